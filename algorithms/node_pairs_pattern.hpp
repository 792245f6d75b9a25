#pragma once
// The ranks that carry the blocks between two nodes, and the places where they keep them.

#include <vector>

#include "carried_pattern.hpp"
#include "nodes_pattern.hpp"

namespace tutti {

/// A pair of nodes, this rank's and another. One rank of each carries their blocks for each other, both ways.
struct NodePair {
  int node;          ///< The other node.
  Rank here, there;  ///< The carriers: each rank of a node carries for some of the other nodes.
};
inline std::vector<NodePair> node_pairs(const Nodes& nodes) {
  std::vector<NodePair> pairs;
  const int own = nodes.own();
  for (int node = 0; node < nodes.count(); ++node)
    if (node != own)
      pairs.push_back(
          {node, nodes.mine().at(node % nodes.mine().size()), nodes.at(node).at(own % nodes.at(node).size())});
  return pairs;
}

/// The sizes of the blocks that the carrier of a pair moves. Each member of this node lists its own: those to each rank
/// of the other node, then those from each of them, all in the order of ranks.
class PairSizes {
 public:
  PairSizes(int members, int others, std::vector<Count> sizes)
      : members_(members), others_(others), sizes_(std::move(sizes)) {}
  /// The number of sizes that one member lists.
  [[nodiscard]] static int entries(int others) { return 2 * others; }
  /// Elements that a member of this node sends to all ranks of the other.
  [[nodiscard]] Count leaving(int member) const {
    Count sum;
    for (int other = 0; other < others_; ++other)
      sum += entry(member, other);
    return sum;
  }
  [[nodiscard]] Count arriving(int other, int member) const { return entry(member, others_ + other); }
  [[nodiscard]] Count arriving() const {
    Count sum;
    for (int other = 0; other < others_; ++other)
      for (int member = 0; member < members_; ++member)
        sum += arriving(other, member);
    return sum;
  }

 private:
  [[nodiscard]] Count entry(int member, int index) const {
    const int place = member * entries(others_) + index;
    return sizes_[static_cast<std::size_t>(place)];
  }

  int members_, others_;
  std::vector<Count> sizes_;
};

/// A rank's blocks by the way that they go. Blocks within the node, and large ones, go straight; others are carried.
class Ways {
 public:
  Ways(const Nodes& nodes, const Carried& is_carried, const Blocks& blocks) : blocks_(blocks) {
    for (int rank = 0; rank < blocks.parts(); ++rank) {
      const bool is_straight = nodes.of(Rank{rank}) == nodes.own() || !is_carried(blocks[rank].count);
      straight_.push_back(is_straight ? blocks[rank].count : Count{0});
      offsets_.push_back(blocks[rank].offset);
    }
  }
  /// All blocks; those that are carried have no elements here.
  [[nodiscard]] BlockList straight() const { return {straight_, offsets_}; }
  /// Whether the block for or from that rank is carried, or empty.
  [[nodiscard]] bool is_carried(int rank) const { return straight_[static_cast<std::size_t>(rank)] == Count{0}; }
  [[nodiscard]] Regions carried(const Group& others) const {
    Regions regions;
    for (const Rank other : others.ranks)
      if (is_carried(other.value())) Blocks::append(regions, blocks_[other.value()]);
    return regions;
  }

 private:
  Blocks blocks_;
  std::vector<Count> straight_, offsets_;
};

}  // namespace tutti
