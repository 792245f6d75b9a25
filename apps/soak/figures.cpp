#include "apps/soak/figures.hpp"

#include <mpi.h>

#include <algorithm>
#include <type_traits>

#include "lib/transport/mpi/check.hpp"

namespace tutti::soak {

void RankFigures::add(const MessageCounters& counters) {
  const std::array transports = {counters.shm, counters.mpi, counters.network};
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i].messages += static_cast<std::int64_t>(transports[i].sent);
    sent[i].bytes += static_cast<std::int64_t>(transports[i].sent_bytes);
  }
}

void RankFigures::add(const History& history) {
  first = history.first();
  last = history.last();
  largest = history.largest();
  samples = static_cast<std::int64_t>(history.size());
  for (std::size_t i = 0; i < resource_count; ++i)
    quarters[i] = history.quarters(static_cast<Resource>(i)).value_or(History::Quarters{});
}

RankFigures sum_of(const std::vector<RankFigures>& ranks) {
  RankFigures sum;
  sum.samples = ranks.empty() ? 0 : ranks.front().samples;
  for (const RankFigures& rank : ranks) {
    sum.tally += rank.tally;
    sum.samples = std::min(sum.samples, rank.samples);
    for (std::size_t i = 0; i < sum.sent.size(); ++i) {
      sum.sent[i].messages += rank.sent[i].messages;
      sum.sent[i].bytes += rank.sent[i].bytes;
    }
    for (std::size_t i = 0; i < resource_count; ++i) {
      sum.first[i] += rank.first[i];
      sum.last[i] += rank.last[i];
      sum.largest[i] += rank.largest[i];
      sum.quarters[i].second += rank.quarters[i].second;
      sum.quarters[i].last += rank.quarters[i].last;
    }
  }
  return sum;
}

std::vector<RankFigures> gathered(const RankFigures& mine) {
  static_assert(std::is_trivially_copyable_v<RankFigures>);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<RankFigures> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  constexpr int bytes = sizeof(RankFigures);
  mpi::check(MPI_Gather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Gather");
  return all;
}

}  // namespace tutti::soak
