#pragma once
// Trees as one rank sees them: its parent and its children.

#include <algorithm>
#include <optional>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// A rank's place in a tree. From the last child to the first, they may be combined with this rank's operand one after
/// the other: each is a neighbour, in the order that the tree keeps, of what has been combined before.
struct TreePlace {
  std::optional<Rank> parent;
  std::vector<Rank> children;  ///< Those with the largest subtrees first.
};

/// The place of a rank in a k-nomial tree.
inline TreePlace knomial_place(const SplitTree& tree, Rank rank) {
  TreePlace place;
  if (!tree.is_root()) place.parent = tree.parent();
  for (const std::vector<SplitTree::Child>& level : tree.levels()) {
    const auto first_after = std::ranges::find_if(level, [&](const auto& child) { return child.rank > rank; });
    for (auto child = level.end(); child != first_after;)
      place.children.push_back((--child)->rank);
    for (auto child = level.begin(); child != first_after; ++child)
      place.children.push_back(child->rank);
  }
  return place;
}

/// How many messages it is from the root of a k-nomial tree to a rank.
inline int knomial_depth(Rank rank, int size, Rank root, int radix) {
  int depth = 0;
  for (; rank != root; ++depth)
    rank = SplitTree{rank, size, root, radix}.parent();
  return depth;
}

/// The place of a rank in the chain from the root on, round the ring.
inline TreePlace chain_place(Rank rank, int size, Rank root) {
  const Ring ring{rank, size};
  TreePlace place;
  if (rank != root) place.parent = ring.previous();
  if (ring.next() != root) place.children.push_back(ring.next());
  return place;
}

/// What the busiest ranks of a k-nomial tree do.
struct KnomialShape {
  int depth = 0;           ///< Of the tree, in messages.
  int root_children = 0;   ///< Children of the root.
  int inner_children = 0;  ///< Most children of another rank.
  [[nodiscard]] int most_children() const { return std::max(root_children, inner_children); }
};

/// As all subtrees below the root have their first rank on top, the largest has the most levels and the most children.
/// Cost: O(radix log size).
inline KnomialShape knomial_shape(int size, Rank root, int radix) {
  const SplitTree tree{root, size, root, radix};
  KnomialShape shape;
  int largest = 0;
  for (const auto& level : tree.levels())
    for (const SplitTree::Child& child : level) {
      ++shape.root_children;
      largest = std::max(largest, child.last - child.first);
    }
  if (largest == 0) return shape;
  shape.depth = 1;
  // A rank's largest subtree is its last part, and what it goes on in is the smallest part, the first.
  for (int below = largest; below > 1; ++shape.depth)
    below = static_cast<int>((static_cast<std::int64_t>(below) + radix - 1) / radix);
  for (int own = largest; own > 1; own /= std::min(radix, own))
    shape.inner_children += std::min(radix, own) - 1;
  return shape;
}

}  // namespace tutti
