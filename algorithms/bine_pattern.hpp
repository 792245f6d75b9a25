#pragma once
// Bine trees and butterflies: ranks at distances 1, -1, 3, -5, 11, ... (De Sensi et al., SC 2025).

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "block_rounds_pattern.hpp"
#include "swing_pattern.hpp"
#include "tree_pattern.hpp"

namespace tutti {

/// A group of any size on the positions of its largest power of two, whose peers are those of Swing.
inline PairedPositions bine_positions(int size) {
  return {size, static_cast<int>(std::bit_floor(static_cast<unsigned>(size)))};
}

/// The units that the ranks divide into, of a power of two each, the largest that there is.
class BineUnits {
 public:
  int size, count;
  explicit BineUnits(int ranks) : size(ranks & -ranks), count(ranks / size) {}
  /// Whether there is a butterfly inside units, and so few of them that ranks at the same place of all can exchange at
  /// once. Else ranks are folded onto positions, which costs up to twice the volume.
  [[nodiscard]] bool are_few() const { return count == 1 || (size > 1 && count < 8); }
  [[nodiscard]] int messages() const { return doublings() + count - 1; }
  [[nodiscard]] int longest_chain() const { return doublings() + std::min(count - 1, 1); }
  /// Blocks of scratch in a reduce-scatter: those kept in the first two rounds.
  [[nodiscard]] int scratch() const {
    const int others = count - 1, half = size / 2 * count, quarter = size / 4 * count;
    return size == 1 ? others : half + (size == 2 ? others : quarter);
  }
  /// Blocks that a rank sends in an alltoall, and that it receives for others.
  [[nodiscard]] int sent() const { return doublings() * (size * count) / 2 + (count - 1) * size; }
  [[nodiscard]] int carried() const { return doublings() * (size * count) / 2 - (size - 1); }

 private:
  [[nodiscard]] int doublings() const { return std::countr_zero(static_cast<unsigned>(size)); }
};

/// The rounds of a reduce-scatter if there are few units: first those inside units, for the blocks of the places of all
/// units at a time; last each rank exchanges with those at its place.
inline std::vector<BlockRound> bine_rounds_of_units(Rank rank, const BineUnits& units) {
  const int place = rank.value() % units.size, first = rank.value() - place, ranks = units.size * units.count;
  const auto of_all = [&](const std::vector<int>& places) {
    std::vector<int> blocks;
    for (int start = 0; start < ranks; start += units.size)
      for (const int position : places)
        blocks.push_back(start + position);
    return blocks;
  };
  std::vector<BlockRound> rounds;
  const Swing swing{place, units.size};
  for (const auto& [peer, kept, given] : swing.rounds())
    rounds.push_back({{{Rank{first + peer}, of_all(given)}}, of_all(kept), {Rank{first + peer}}});
  if (units.count == 1) return rounds;
  BlockRound last{{}, {rank.value()}, {}};
  for (int distance = units.size; distance < ranks; distance += units.size) {
    const int to = (rank.value() + distance) % ranks;
    last.given.push_back({Rank{to}, {to}});
    last.from.emplace_back((rank.value() + ranks - distance) % ranks);
  }
  rounds.push_back(std::move(last));
  return rounds;
}

/// The rounds of a reduce-scatter, the nearest distances first. Cost: O(p log p) for p ranks.
inline std::vector<BlockRound> bine_rounds(Rank rank, int size) {
  if (const BineUnits units{size}; units.are_few()) return bine_rounds_of_units(rank, units);
  const PairedPositions pairs = bine_positions(size);
  std::vector<BlockRound> rounds;
  if (pairs.sits_out(rank)) return pairs.with_pairs(rank, {});
  const Swing swing{pairs.position(rank), pairs.core()};
  for (const auto& [peer, kept, given] : swing.rounds())
    rounds.push_back({{{pairs.at(peer), pairs.blocks(given)}}, pairs.blocks(kept), {pairs.at(peer)}});
  return pairs.with_pairs(rank, std::move(rounds));
}

/// The load of the busiest ranks if ranks are folded onto positions. Cost: O(p log p).
class BineFigures {
 public:
  explicit BineFigures(int size) : pairs_(bine_positions(size)), distances_(swing_distances(pairs_.core())) {
    std::vector<int> held;
    for (int position = 0; position < pairs_.core(); ++position)
      held.push_back(pairs_.paired(position) ? 2 : 1);
    for (auto distance = distances_.rbegin(); distance != distances_.rend(); ++distance) {
      kept_.insert(kept_.begin(), held);
      for (int position = 0; position < pairs_.core(); ++position)
        held[index(position)] += kept_.front()[index(swing_peer(position, pairs_.core(), *distance))];
    }
  }
  [[nodiscard]] int messages() const { return static_cast<int>(distances_.size()) + (pairs_.even() ? 0 : 1); }
  /// The longest chain of messages: it leads through a pair at both ends only if some pair is at the far end of
  /// another.
  [[nodiscard]] int longest_chain() const {
    bool both = false;
    for (int position = 0; pairs_.paired(position); ++position) {
      int end = position;
      for (const int distance : distances_)
        end = swing_peer(end, pairs_.core(), distance);
      both = both || pairs_.paired(end);
    }
    return messages() + (both ? 1 : 0);
  }
  /// The most blocks that a rank keeps in all rounds together, where one that stands for a pair keeps `more` besides.
  /// Backwards, the most that it sends.
  [[nodiscard]] int most_kept(int more) const {
    int most = 0;
    for (int position = 0; position < pairs_.core(); ++position) {
      int sum = pairs_.paired(position) ? more : 0;
      for (const std::vector<int>& kept : kept_)
        sum += kept[index(position)];
      most = std::max(most, sum);
    }
    return most;
  }
  /// The most blocks of scratch: what a rank keeps in its first two rounds, of which a pair's first keeps all.
  [[nodiscard]] int scratch(int size) const {
    int most = 0;
    for (int position = 0; position < pairs_.core(); ++position) {
      const int second = pairs_.paired(position) ? size : kept_.size() > 1 ? kept_[1][index(position)] : 0;
      most = std::max(most, kept_[0][index(position)] + second);
    }
    return most;
  }

 private:
  static std::size_t index(int place) { return static_cast<std::size_t>(place); }
  PairedPositions pairs_;
  std::vector<int> distances_;
  std::vector<std::vector<int>> kept_;  ///< Blocks by round and position.
};

/// A Bine tree: from the root on, every rank hands on at ever nearer distances. Its subtrees are ranges round the
/// circle of positions. A rank is listed before those below it, and each subtree on its own. Cost: O(p) for p ranks.
class BineTree {
 public:
  struct Child {
    Rank rank;
    int first, last;  ///< The places of its subtree in ranks(), itself included.
  };
  BineTree(Rank rank, int size, Rank root)
      : pairs_(bine_positions(size)), distances_(swing_distances(pairs_.core())), root_(root) {
    Node node{pairs_.position(root), distances_.size()};
    while (node.position != pairs_.position(rank)) {
      parent_ = at(node.position);
      const std::vector<Node> nodes = below(node);
      node = *std::ranges::find_if(nodes, [&](const Node& child) {
        std::vector<Rank> ranks;
        list(child, ranks);
        return std::ranges::find(ranks, rank) != ranks.end();
      });
    }
    ranks_ = {rank};
    if (at(node.position) != rank) {  // the other one of a pair
      parent_ = at(node.position);
      return;
    }
    for (const Node& child : below(node)) {
      const int first = static_cast<int>(ranks_.size());
      list(child, ranks_);
      children_.push_back({at(child.position), first, static_cast<int>(ranks_.size())});
    }
    if (!pairs_.paired(node.position)) return;
    const int first = static_cast<int>(ranks_.size());
    ranks_.push_back(other(node.position));
    children_.push_back({ranks_.back(), first, first + 1});
  }
  [[nodiscard]] bool is_root() const { return !parent_; }
  [[nodiscard]] std::optional<Rank> parent() const { return parent_; }
  /// Those with the largest subtrees first.
  [[nodiscard]] const std::vector<Child>& children() const { return children_; }
  /// The ranks of this rank's subtree, itself first.
  [[nodiscard]] const std::vector<Rank>& ranks() const { return ranks_; }
  /// The rank's place in it.
  [[nodiscard]] TreePlace place() const {
    TreePlace place{parent_, {}};
    for (const Child& child : children_)
      place.children.push_back(child.rank);
    return place;
  }
  /// The blocks of a child's subtree, in the order of ranks().
  [[nodiscard]] Regions blocks_below(const Child& child, const Blocks& blocks) const {
    Regions regions;
    for (int place = child.first; place < child.last; ++place)
      Blocks::append(regions, blocks[ranks_[static_cast<std::size_t>(place)].value()]);
    return regions;
  }
  /// The ranks of a child's largest subtree.
  [[nodiscard]] int largest() const {
    int most = 0;
    for (const Child& child : children_)
      most = std::max(most, child.last - child.first);
    return most;
  }
  /// The number of messages from the root to the rank farthest from it.
  [[nodiscard]] int depth() const {
    int position = pairs_.position(root_);
    for (auto distance = distances_.rbegin(); distance != distances_.rend(); ++distance)
      position = swing_peer(position, pairs_.core(), *distance);
    return static_cast<int>(distances_.size()) + (pairs_.paired(position) ? 1 : 0);
  }

 private:
  /// A position and the number of rounds that it hands on in.
  struct Node {
    int position;
    std::size_t rounds;
  };
  /// The rank that acts for a position: the root for its own, even if it would sit out.
  [[nodiscard]] Rank at(int position) const { return position == pairs_.position(root_) ? root_ : pairs_.at(position); }
  [[nodiscard]] std::vector<Node> below(const Node& node) const {
    std::vector<Node> nodes;
    for (std::size_t round = node.rounds; round-- > 0;)
      nodes.push_back({swing_peer(node.position, pairs_.core(), distances_[round]), round});
    return nodes;
  }
  /// Of a pair, the rank that does not act for its position.
  [[nodiscard]] Rank other(int position) const { return Rank{at(position).value() ^ 1}; }
  void list(const Node& node, std::vector<Rank>& ranks) const {
    ranks.push_back(at(node.position));
    for (const Node& child : below(node))
      list(child, ranks);
    if (pairs_.paired(node.position)) ranks.push_back(other(node.position));
  }
  PairedPositions pairs_;
  std::vector<int> distances_;
  Rank root_;
  std::optional<Rank> parent_;
  std::vector<Child> children_;
  std::vector<Rank> ranks_;
};

}  // namespace tutti
