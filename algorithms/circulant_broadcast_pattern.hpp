#pragma once
// Round-optimal broadcast of any number of blocks among any number of ranks on a circulant graph: Traeff, "Optimal
// Broadcast Schedules in Logarithmic Time with Applications to Broadcast, All-Broadcast, Reduction and All-Reduction",
// arXiv 2407.18004, 2024.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/types.hpp"

namespace tutti {

/// The graph on the positions 0..size-1 in which every position sends `skip(k)` positions ahead in round k, and again
/// from round 0 on after the last. Position 0 is the root.
class BroadcastCirculant {
 public:
  explicit BroadcastCirculant(int size) {
    skips_.push_back(size);
    while (skips_.back() > 1)
      skips_.push_back(skips_.back() / 2 + skips_.back() % 2);
    std::ranges::reverse(skips_);
  }
  [[nodiscard]] int size() const { return static_cast<int>(skips_.back()); }
  /// ceil(log2 size)
  [[nodiscard]] int rounds() const { return static_cast<int>(skips_.size()) - 1; }
  [[nodiscard]] int ahead(int position, int round) const { return place(position + skip(round)); }
  [[nodiscard]] int behind(int position, int round) const { return place(position - skip(round) + size()); }

  /// The block that a position other than the root receives in each of the rounds 0..rounds()-1 of a long broadcast.
  /// The first block of these rounds is number 0; negative ones are of earlier rounds. Each next rounds() rounds add
  /// rounds() to the numbers. Cost: O(rounds()).
  [[nodiscard]] std::vector<int> receives(int position) const {
    Search search{*this, position};
    search.walk(0, rounds() + 1);
    for (int& block : search.found)
      block = block == rounds() ? search.own : block - rounds();
    return search.found;
  }

 private:
  [[nodiscard]] std::int64_t skip(int round) const { return skips_[static_cast<std::size_t>(round)]; }
  [[nodiscard]] int place(std::int64_t at) const { return static_cast<int>(at % size()); }

  /// The block that the root sends in round k is the first that comes to the positions whose path from the root, by
  /// large skips first, ends with skip k. A position receives, in round 0, 1, ..., the first block of the nearest
  /// position before it that can have handed it on by then, each time a different block. But a position that is too
  /// near for the next round is taken in this one, before those that lie between the two.
  struct Search {
    Search(const BroadcastCirculant& on, int position)
        : graph(on), target(on.size() + std::int64_t{position}), last(target), own(first_block(position)) {
      unused &= ~bit(own);
    }
    static std::uint64_t bit(int number) { return std::uint64_t{1} << number; }
    /// The largest unused number below `limit`, or -1.
    [[nodiscard]] int unused_below(int limit) const {
      return static_cast<int>(std::bit_width(unused & (bit(limit) - 1))) - 1;
    }
    /// The smallest skip of a position's path.
    [[nodiscard]] int first_block(std::int64_t position) const {
      int round = graph.rounds();
      while (position > 0)
        if (graph.skip(--round) <= position) position -= graph.skip(round);
      return round;
    }
    /// The nearest position that the target hears of in a round: the next one to be found, or the `later`-th after it.
    [[nodiscard]] std::int64_t nearest(std::size_t later) const {
      return target - graph.skip(static_cast<int>(found.size() + later));
    }
    [[nodiscard]] bool complete() const { return static_cast<int>(found.size()) == graph.rounds(); }
    /// Goes on from position `from` by skips numbered below `limit`.
    void walk(std::int64_t from, int limit) {
      for (int k = unused_below(limit); k >= 0 && !complete(); k = unused_below(k)) {
        const std::int64_t next = from + graph.skip(k);
        if (next > nearest(0) || next >= last) continue;
        if (next <= nearest(1)) walk(next, k);
        if (complete() || from > nearest(1)) return;
        found.push_back(k);
        unused &= ~bit(k);
        last = next;
      }
    }
    const BroadcastCirculant& graph;
    std::int64_t target, last;
    int own;
    std::uint64_t unused = ~std::uint64_t{0};
    std::vector<int> found{};
  };

  std::vector<std::int64_t> skips_;
};

/// The rounds in which blocks go, counted so that the last phase is a whole one.
class BroadcastClock {
 public:
  BroadcastClock(int blocks, int phase)
      : blocks_(blocks), phase_(phase), skipped_((phase - (blocks - 1) % phase) % phase) {}
  [[nodiscard]] int rounds() const { return blocks_ - 1 + phase_; }
  /// The round of the graph that a round of the broadcast is.
  [[nodiscard]] int graph_round(int round) const { return (round + skipped_) % phase_; }
  /// The block that a position receives in a round, if any. Instead of blocks after the last, the last is sent.
  [[nodiscard]] std::optional<int> block(const std::vector<int>& receives, int round) const {
    const int k = graph_round(round), before = round - k;
    const int block = receives[static_cast<std::size_t>(k)] + before;
    return block < 0 ? std::nullopt : std::optional{std::min(block, blocks_ - 1)};
  }

 private:
  int blocks_, phase_, skipped_;
};

/// The transfers of a rank in one round of a broadcast: at most one block sent and one received.
struct BlockTransfer {
  Rank peer;
  int block = 0;
};
struct BroadcastRound {
  std::optional<BlockTransfer> sent, received;
};

/// The blocks - 1 + ceil(log2 size) rounds of a rank: it receives each block once, and sends only blocks that it has
/// received in earlier rounds. Cost: O(blocks + log^2 size).
inline std::vector<BroadcastRound> circulant_broadcast(Rank rank, int size, Rank root, int blocks) {
  if (size == 1) return {};
  const BroadcastCirculant graph{size};
  const BroadcastClock clock{blocks, graph.rounds()};
  const int position = (rank.value() - root.value() + size) % size;
  const auto rank_at = [&](int at) { return Rank{static_cast<int>((std::int64_t{at} + root.value()) % size)}; };
  const auto received_by = [&](int at) { return at == 0 ? std::vector<int>{} : graph.receives(at); };
  const std::vector<int> received = received_by(position);
  std::vector<std::vector<int>> sent;
  sent.reserve(static_cast<std::size_t>(graph.rounds()));
  for (int k = 0; k < graph.rounds(); ++k)
    sent.push_back(received_by(graph.ahead(position, k)));
  std::vector<BroadcastRound> rounds;
  rounds.reserve(static_cast<std::size_t>(clock.rounds()));
  for (int i = 0; i < clock.rounds(); ++i) {
    const int k = clock.graph_round(i);
    const auto transfer = [&](const std::vector<int>& receives, int peer) -> std::optional<BlockTransfer> {
      const std::optional<int> block = receives.empty() ? std::nullopt : clock.block(receives, i);
      return block ? std::optional{BlockTransfer{rank_at(peer), *block}} : std::nullopt;
    };
    rounds.push_back({transfer(sent[static_cast<std::size_t>(k)], graph.ahead(position, k)),
                      transfer(received, graph.behind(position, k))});
  }
  return rounds;
}

/// The longest way of a block, in messages. For more than 1024 ranks it is a bound, which powers of two meet.
/// Cost: O(s log s), s the smaller of `size` and 1024.
inline int circulant_broadcast_depth(int size, int blocks) {
  constexpr int most_counted = 1024;
  if (size <= 2) return size - 1;
  const BroadcastCirculant graph{size};
  if (size > most_counted) return graph.rounds() + 1;
  blocks = std::min(blocks, graph.rounds());  // later blocks go the ways of those a phase before
  const BroadcastClock clock{blocks, graph.rounds()};
  std::vector<std::vector<int>> receives, hops;
  for (int position = 0; position < size; ++position) {
    receives.push_back(position == 0 ? std::vector<int>{} : graph.receives(position));
    hops.emplace_back(blocks);
  }
  int depth = 0;
  for (int round = 0; round < clock.rounds(); ++round)
    for (int position = 1; position < size; ++position)
      if (const auto block = clock.block(receives[static_cast<std::size_t>(position)], round)) {
        const int peer = graph.behind(position, clock.graph_round(round));
        const auto at = static_cast<std::size_t>(*block);
        int& length = hops[static_cast<std::size_t>(position)][at];
        length = hops[static_cast<std::size_t>(peer)][at] + 1;
        depth = std::max(depth, length);
      }
  return depth;
}

}  // namespace tutti
