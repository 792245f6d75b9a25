#pragma once
// Tests of persistent collectives (MPI 4): each is made, started, waited for and freed. MPI's own are the blocking
// ones.
#include <mpi.h>
using N = int;
using D = int;

namespace tutti::test {

template <auto make, class Blocking>
struct Started;
template <auto make, class... Arguments>
struct Started<make, int(Arguments...)> {
  static int call(Arguments... arguments) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = make(arguments..., MPI_INFO_NULL, &request);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Start(&request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return code;
  }
};

}  // namespace tutti::test

#define TUTTI_TEST_FORM(Name, Iname) Started<&MPI_##Name##_init, decltype(MPI_##Name)>::call
#include "tests/interpose/forms.hpp"
