// MPI's persistent collectives, as the program calls them (MPI 4).
#include "interpose/beneath.hpp"
#include "interpose/intercept.hpp"

using namespace tutti;             // NOLINT(google-build-using-namespace): the names of collectives.def
using namespace tutti::interpose;  // NOLINT(google-build-using-namespace)
using N = int;
using D = int;

#define TUTTI_LIST(...) __VA_ARGS__

extern "C" {

TUTTI_API int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(Function::barrier, comm, request, barrier,
                    [&] { return TUTTI_BENEATH(MPI_Barrier_init)(comm, info, request); });
}

// NOLINTBEGIN(bugprone-macro-parentheses): parameters of functions
#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description)                          \
  TUTTI_API int MPI_##Name##_init(TUTTI_LIST parameters, MPI_Info info, MPI_Request* request) {              \
    return persistent(                                                                                       \
        Function::function, comm, request, [&](Target& target, Job& job) { return interpose::description; }, \
        [&] { return TUTTI_BENEATH(MPI_##Name##_init)(TUTTI_LIST arguments, info, request); });              \
  }
#include "interpose/collectives.def"
#undef TUTTI_COLLECTIVE
// NOLINTEND(bugprone-macro-parentheses)
}
