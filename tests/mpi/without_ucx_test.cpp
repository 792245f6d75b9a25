// A program that was linked without UCX: a request for it is refused on every rank, and the error names the others.
#include "tests/mpi/collective_cases.hpp"

namespace tutti::test {
namespace {

TEST(WithoutUcx, WantingItIsRefused) {
  for (const char* const wanted : {"ucx", "shm+ucx"}) {
    const std::string given = "'" + std::string{wanted} + "'";
    expect_throw<ArgumentError>([&] { const Communicator comm(MPI_COMM_WORLD, {.transport = wanted}); },
                                {"'transport'", given, "allowed here: auto, shm, mpi"});
    const Setting setting{"TUTTI_TRANSPORT", wanted};
    expect_throw<ArgumentError>([] { const Communicator comm{MPI_COMM_WORLD}; },
                                {"TUTTI_TRANSPORT", given, "allowed here: auto, shm, mpi"});
  }
  expect_works(Communicator{MPI_COMM_WORLD});
}

}  // namespace
}  // namespace tutti::test
