#pragma once
// Two binary trees over the same ranks in which no rank has children in both: each carries half of the data, and all
// ranks send about as much as they receive (Sanders, Speck & Traeff, Parallel Computing 35(12), 2009).

#include <array>
#include <bit>

#include "tree_pattern.hpp"

namespace tutti {

/// The place of a position in the binary tree over the positions 1..size that is numbered from left to right. Odd
/// positions are leaves. 0: none there.
struct BinaryPlace {
  int parent = 0, left = 0, right = 0;
};
inline BinaryPlace binary_place(int position, int size) {
  const int step = position & -position;  // a full subtree below here has 2 step - 1 positions
  BinaryPlace place;
  place.left = position - step / 2;
  if (step == 1) place.left = 0;
  int reach = step / 2;
  while (reach > 0 && size - position < reach)
    reach /= 2;
  if (reach > 0) place.right = position + reach;
  if (position == static_cast<int>(std::bit_floor(static_cast<unsigned>(size)))) return place;
  const int below = position - step;  // a power of two more is either the parent or not there
  const bool parent_is_below = (below & 2 * step) != 0 || size - position < step;
  place.parent = parent_is_below ? below : position + step;
  return place;
}

/// Edges from top to bottom of that tree.
inline int binary_depth(int size) { return static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1; }

namespace two_trees {

/// The place of a role in the tree over the roles 1..size, below `head` if there is one; `rank_at` names roles.
template <class RankAt>
TreePlace place_of(int role, int size, std::optional<Rank> head, const RankAt& rank_at) {
  const BinaryPlace place = binary_place(role, size);
  TreePlace found{head, {}};
  if (place.parent != 0) found.parent = rank_at(place.parent);
  for (const int child : {place.left, place.right})
    if (child != 0) found.children.push_back(rank_at(child));
  return found;
}

/// The place of the head of a tree over the roles 1..size.
template <class RankAt>
TreePlace place_of_head(int size, const RankAt& rank_at) {
  return {std::nullopt, {rank_at(static_cast<int>(std::bit_floor(static_cast<unsigned>(size))))}};
}

}  // namespace two_trees

/// Two trees below the same root, of binary_depth(size - 1) + 1 levels of messages, over the other ranks. The roles of
/// the second are those of the first mirrored, or moved by one, so that odd and even change places. Two ranks at least.
inline std::array<TreePlace, 2> two_trees_below(Rank root, Rank rank, int size) {
  const int others = size - 1, place = (rank.value() - root.value() + size) % size;
  const auto rank_at = [=](int at) { return Rank{static_cast<int>((std::int64_t{root.value()} + at) % size)}; };
  const auto second = [=](int first) { return others % 2 == 0 ? others + 1 - first : first % others + 1; };
  const auto second_back = [=](int role) {
    return others % 2 == 0 ? others + 1 - role : (role + others - 2) % others + 1;
  };
  const auto second_rank_at = [=](int role) { return rank_at(second_back(role)); };
  if (place == 0) return {two_trees::place_of_head(others, rank_at), two_trees::place_of_head(others, second_rank_at)};
  return {two_trees::place_of(place, others, root, rank_at),
          two_trees::place_of(second(place), others, root, second_rank_at)};
}

/// Two trees over all ranks, each with a root of its own, that keep the order of ranks. The second is the first
/// mirrored, or, of an odd size, below rank 0 over the others. Two ranks at least.
inline std::array<TreePlace, 2> two_trees_over(Rank rank, int size) {
  const auto rank_at = [](int role) { return Rank{role - 1}; };
  const auto mirrored = [=](int role) { return Rank{size - role}; };
  const auto moved = [](int role) { return Rank{role}; };
  const TreePlace first = two_trees::place_of(rank.value() + 1, size, std::nullopt, rank_at);
  if (size % 2 == 0) return {first, two_trees::place_of(size - rank.value(), size, std::nullopt, mirrored)};
  if (rank == Rank{0}) return {first, two_trees::place_of_head(size - 1, moved)};
  return {first, two_trees::place_of(rank.value(), size - 1, Rank{0}, moved)};
}

/// Messages from the top to the bottom of the deeper one of two_trees_over(size).
inline int two_trees_depth(int size) { return size % 2 == 0 ? binary_depth(size) : binary_depth(size - 1) + 1; }

}  // namespace tutti
