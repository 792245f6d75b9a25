// MPI's blocking collectives, as the program calls them.
#include "interpose/beneath.hpp"
#include "interpose/intercept.hpp"

using namespace tutti;             // NOLINT(google-build-using-namespace): the names of collectives.def
using namespace tutti::interpose;  // NOLINT(google-build-using-namespace)
using N = int;
using D = int;

extern "C" {

TUTTI_API int MPI_Barrier(MPI_Comm comm) {
  return blocking(Function::barrier, comm, barrier, [&] { return TUTTI_BENEATH(MPI_Barrier)(comm); });
}

// NOLINTBEGIN(bugprone-macro-parentheses): parameters of functions
#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description)                 \
  TUTTI_API int MPI_##Name parameters {                                                             \
    return blocking(                                                                                \
        Function::function, comm, [&](Target& target, Job& job) { return interpose::description; }, \
        [&] { return TUTTI_BENEATH(MPI_##Name) arguments; });                                       \
  }
#include "interpose/collectives.def"
#undef TUTTI_COLLECTIVE
// NOLINTEND(bugprone-macro-parentheses)
}
