#pragma once
// What MPI's collectives become when the program calls them: TUTTI_BLOCKING(MPI_Bcast, bcast, (parameters),
// (arguments), broadcast(...)) defines MPI_Bcast, which serves the job that broadcast() describes, or passes the call
// on. The parameters name the communicator `comm`. N and D are types of counts and displacements in the file that
// includes this.

#include "bindings/preload/beneath.hpp"
#include "bindings/preload/intercept.hpp"
#include "tutti/export.hpp"

#define TUTTI_LIST(...) __VA_ARGS__

// NOLINTBEGIN(bugprone-macro-parentheses): parameters of functions
#define TUTTI_BLOCKING(name, function, parameters, arguments, description)                          \
  TUTTI_API int name parameters {                                                                   \
    return blocking(                                                                                \
        Function::function, comm, [&](Target& target, Job& job) { return interpose::description; }, \
        [&] { return TUTTI_BENEATH(name) arguments; });                                             \
  }

#define TUTTI_NONBLOCKING(name, function, parameters, arguments, description)                                \
  TUTTI_API int name(TUTTI_LIST parameters, MPI_Request* request) {                                          \
    return nonblocking(                                                                                      \
        Function::function, comm, request, [&](Target& target, Job& job) { return interpose::description; }, \
        [&] { return TUTTI_BENEATH(name)(TUTTI_LIST arguments, request); });                                 \
  }

#define TUTTI_PERSISTENT(name, function, parameters, arguments, description)                                 \
  TUTTI_API int name(TUTTI_LIST parameters, MPI_Info info, MPI_Request* request) {                           \
    return persistent(                                                                                       \
        Function::function, comm, request, [&](Target& target, Job& job) { return interpose::description; }, \
        [&] { return TUTTI_BENEATH(name)(TUTTI_LIST arguments, info, request); });                           \
  }
// NOLINTEND(bugprone-macro-parentheses)
