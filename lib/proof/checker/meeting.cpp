#include "meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "fault.hpp"

namespace tutti::checker {
namespace {

/// A set of ranks for each of some items.
class RankSets {
 public:
  RankSets(std::size_t items, int ranks) : words_(static_cast<std::size_t>(ranks) / 64 + 1), bits_(items * words_) {}
  void add(std::size_t item, int rank) { row(item)[rank / 64] |= std::uint64_t{1} << (rank % 64); }
  [[nodiscard]] bool has(std::size_t item, int rank) { return (row(item)[rank / 64] >> (rank % 64) & 1) != 0; }
  void join(std::size_t item, RankSets& others, std::size_t other) {
    std::transform(row(item), row(item) + words_, others.row(other), row(item), std::bit_or<>{});
  }

 private:
  std::uint64_t* row(std::size_t item) { return &bits_[item * words_]; }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

void require_meeting(const Graph& graph, const std::vector<int>& order, int ranks) {
  RankSets entered{order.size(), ranks};                   // by event: the ranks that have entered when it happens
  RankSets known{static_cast<std::size_t>(ranks), ranks};  // by rank: when it leaves
  for (int rank = 0; rank < ranks; ++rank)
    known.add(static_cast<std::size_t>(rank), rank);
  for (const int event : order) {
    const auto item = static_cast<std::size_t>(event);
    const int rank = graph.rank(Graph::step_of(event)).value();
    entered.add(item, rank);
    for (std::size_t k = 0;; ++k) {
      const int before = graph.predecessor(event, k, Flow::eager);
      if (before == Graph::nobody) break;
      entered.join(item, entered, static_cast<std::size_t>(before));
    }
    if (!Graph::is_start(event)) known.join(static_cast<std::size_t>(rank), entered, item);
  }
  for (int rank = 0; rank < ranks; ++rank)
    for (int other = 0; other < ranks; ++other)
      if (!known.has(static_cast<std::size_t>(rank), other))
        throw Fault{fmt::format("rank {} may leave before rank {} has entered", rank, other),
                    {{Rank{rank}}, {Rank{other}}}};
}

}  // namespace tutti::checker
