#pragma once
// Trees as one rank sees them: its parent and its children.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// A rank's place in a tree. The operands of the children may be combined with this rank's one after the other, from
/// the last child to the first: each is a neighbour, in the order that the tree keeps, of the operands combined before.
struct TreePlace {
  std::optional<Rank> parent;
  std::vector<Rank> children;  ///< Ordered by their subtrees, the largest first.
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

/// The number of messages from the root of a k-nomial tree to a rank.
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

/// The number of children of the first of `size` ranks, if it is the root of a k-nomial tree over them.
inline int first_children(int size, int radix) {
  int children = 0;
  for (; size > 1; size /= std::min(radix, size))
    children += std::min(radix, size) - 1;
  return children;
}

/// The load of the busiest ranks of a k-nomial tree.
struct KnomialShape {
  int depth = 0;           ///< Messages from the root to the farthest leaf.
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
  // A rank's largest subtree is its last part; the part that it goes on in is the smallest, the first.
  for (int below = largest; below > 1; ++shape.depth)
    below = static_cast<int>((static_cast<std::int64_t>(below) + radix - 1) / radix);
  shape.inner_children = first_children(largest, radix);
  return shape;
}

/// The load of a rank in all the k-nomial trees of a group, one from each rank.
struct LoadOfAllRoots {
  int children = 0;  ///< In all of them together.
  int inner = 0;     ///< The trees of other roots in which it has children.
};

/// The parts of the group that a rank lies in are nested: parts[0] is the group, and each next one is smaller. In the
/// tree of a root that lies in parts[k-1] but not in parts[k], the rank has as many children as the root of a tree over
/// the largest part, from parts[k] on, whose first rank it is. Cost: O(radix log size).
inline LoadOfAllRoots load_of_all_roots(Rank rank, int size, int radix) {
  const SplitTree own{rank, size, rank, radix};
  LoadOfAllRoots load;
  std::vector<std::pair<int, int>> parts{{0, size}};
  for (const auto& level : own.levels()) {
    auto [first, last] = parts.back();
    for (const SplitTree::Child& child : level) {
      ++load.children;
      if (child.rank < rank) first = std::max(first, child.last);
      if (child.rank > rank) last = std::min(last, child.first);
    }
    parts.emplace_back(first, last);
  }
  const auto length = [&](std::size_t part) { return parts[part].second - parts[part].first; };
  std::size_t top = 1;  // the part of which the rank is the first
  for (std::size_t part = 1; part < parts.size(); ++part) {
    while (top < part || parts[top].first != rank.value())
      ++top;
    const int roots = length(part - 1) - length(part), children = first_children(length(top), radix);
    load.children += roots * children;
    if (children > 0) load.inner += roots;
  }
  return load;
}

}  // namespace tutti
