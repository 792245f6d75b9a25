#include "apps/bench/division.hpp"

namespace tutti::bench {

namespace {

/// Of as many ranks, the blocks r and ranks - 1 - r have twice the mean together, so that all have the total.
Count uneven_count(Count mean, int rank, int ranks) {
  if (ranks == 1) return mean;
  const std::int64_t place = 2 * rank - (ranks - 1);  // from -(ranks - 1) to ranks - 1
  // Not multiplied before it is divided, where that could overflow.
  const std::int64_t steps = 2LL * (ranks - 1), whole = mean.value() / steps, rest = mean.value() % steps;
  return mean + Count{place * whole + place * rest / steps};
}

Count count_of(Divided how, Count mean, int rank, int ranks, int of) {
  switch (how) {
    case Divided::unevenly:
      return uneven_count(mean, rank, ranks);
    case Divided::unevenly_by_pair:
      return uneven_count(mean, (rank + of) % ranks, ranks);
    case Divided::evenly:
    case Divided::not_at_all:
      break;
  }
  return mean;
}

}  // namespace

Division::Division(Divided how, Count total, int ranks, int of) {
  Count offset;
  for (int rank = 0; rank < ranks; ++rank) {
    counts_.push_back(count_of(how, total / ranks, rank, ranks, of));
    offsets_.push_back(offset);
    mpi_counts_.push_back(static_cast<int>(counts_.back().value()));
    mpi_offsets_.push_back(static_cast<int>(offset.value()));
    offset += counts_.back();
  }
}

}  // namespace tutti::bench
