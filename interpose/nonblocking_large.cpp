// The same with counts of 64 bits (MPI 4).
#include "interpose/beneath.hpp"
#include "interpose/intercept.hpp"

using namespace tutti;             // NOLINT(google-build-using-namespace): the names of collectives.def
using namespace tutti::interpose;  // NOLINT(google-build-using-namespace)
using N = MPI_Count;
using D = MPI_Aint;

#define TUTTI_LIST(...) __VA_ARGS__

extern "C" {

// NOLINTBEGIN(bugprone-macro-parentheses): parameters of functions
#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description)                          \
  TUTTI_API int MPI_##Iname##_c(TUTTI_LIST parameters, MPI_Request* request) {                               \
    return nonblocking(                                                                                      \
        Function::function, comm, request, [&](Target& target, Job& job) { return interpose::description; }, \
        [&] { return TUTTI_BENEATH(MPI_##Iname##_c)(TUTTI_LIST arguments, request); });                      \
  }
#include "interpose/collectives.def"
#undef TUTTI_COLLECTIVE
// NOLINTEND(bugprone-macro-parentheses)
}
