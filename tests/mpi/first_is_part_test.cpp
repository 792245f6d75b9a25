// The first communicators are smaller than the world, made by some ranks only: none of it may wait for the others.
#include <gtest/gtest.h>
#include <mpi.h>

#include "tutti/tutti.hpp"

namespace tutti {
namespace {

TEST(FirstCommunicator, MayBeAPartOfTheWorld) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &part);
  long ones = 1, world_ones = 1;
  if (part != MPI_COMM_NULL) {
    const Communicator early{part};
    allreduce(std::span<long>{&ones, 1}, Op::sum, early);
    EXPECT_EQ(ones, size - 1);
    const Communicator again{part};
    allreduce(std::span<long>{&ones, 1}, Op::sum, again);
    EXPECT_EQ(ones, (size - 1) * (size - 1));
    MPI_Comm_free(&part);
  }
  const Communicator world{MPI_COMM_WORLD};
  allreduce(std::span<long>{&world_ones, 1}, Op::sum, world);
  EXPECT_EQ(world_ones, size);
}

}  // namespace
}  // namespace tutti
