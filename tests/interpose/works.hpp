#pragma once
// Whether a communicator is of any use.

#include <gtest/gtest.h>

#include "tests/interpose/world.hpp"

namespace tutti::test {

inline int sum_of_ranks(int size) { return size * (size - 1) / 2; }

/// Whether collectives on it do what they should.
inline testing::AssertionResult works(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm);
  int sum = -1, value = rank == size - 1 ? 42 : 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&value, 1, MPI_INT, size - 1, comm);
  MPI_Barrier(comm);
  if (sum == sum_of_ranks(size) && value == 42) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "a sum of " << sum << ", a value of " << value << " on rank " << rank;
}

}  // namespace tutti::test
