#pragma once
// How a buffer is divided into the blocks of the ranks.

#include <vector>

#include "tutti/schedule.hpp"

namespace tutti::bench {

enum class Divided {
  not_at_all,
  evenly,
  unevenly,          ///< Alike on all ranks.
  unevenly_by_pair,  ///< Block j of rank i as large as block i of rank j.
};

/// Blocks of a buffer, one for each rank, one after the other. Uneven ones have between 1/2 and 3/2 of the mean: they
/// grow from rank 0 to the last by equal steps; by pair, they begin on rank `of` with its number of steps.
class Division {
 public:
  /// Of rank `of`; `total` is a multiple of `ranks`.
  Division(Divided how, Count total, int ranks, int of);

  [[nodiscard]] Count count(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Count offset(int rank) const { return offsets_[static_cast<std::size_t>(rank)]; }
  /// As Tutti takes them.
  [[nodiscard]] BlockList list() const { return {counts_, offsets_}; }
  /// As MPI takes them; only if the total fits an int.
  [[nodiscard]] const int* mpi_counts() const { return mpi_counts_.data(); }
  [[nodiscard]] const int* mpi_offsets() const { return mpi_offsets_.data(); }

 private:
  std::vector<Count> counts_, offsets_;
  std::vector<int> mpi_counts_, mpi_offsets_;
};

}  // namespace tutti::bench
