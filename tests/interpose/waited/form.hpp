#pragma once
// Tests of nonblocking collectives: each is started and waited for. MPI's own are the blocking ones.
#include <mpi.h>
using N = int;
using D = int;

namespace tutti::test {

template <auto start, class Blocking>
struct Waited;
template <auto start, class... Arguments>
struct Waited<start, int(Arguments...)> {
  static int call(Arguments... arguments) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = start(arguments..., &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
};

}  // namespace tutti::test

#define TUTTI_TEST_FORM(Name, Iname) Waited<&MPI_##Iname, decltype(MPI_##Name)>::call
#include "tests/interpose/forms.hpp"
