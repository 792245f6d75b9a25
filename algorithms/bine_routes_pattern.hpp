#pragma once
// The routes of blocks in an alltoall over a Bine butterfly.

#include <algorithm>
#include <vector>

#include "bine_pattern.hpp"

namespace tutti {

/// A block of an alltoall: that of rank `from` for rank `to`.
struct RoutedBlock {
  int from, to;
  auto operator<=>(const RoutedBlock&) const = default;
};

/// One round of a rank: the blocks that it sends to a peer and those that it receives from it; both ends list them in
/// the same order.
struct RoutedRound {
  Rank peer;
  std::vector<RoutedBlock> sent, received;
};

/// The positions that are reached from one over any of the given distances, one after the other, ascending.
inline std::vector<int> reached_over(int position, int positions, const std::vector<int>& distances) {
  std::vector<int> found{position};
  for (const int distance : distances)
    for (std::size_t i = 0, known = found.size(); i < known; ++i)
      found.push_back(swing_peer(found[i], positions, distance));
  std::ranges::sort(found);
  return found;
}

/// All blocks from one list of ranks to another, but not those of ranks for themselves.
inline std::vector<RoutedBlock> blocks_between(const std::vector<int>& from, const std::vector<int>& to) {
  std::vector<RoutedBlock> blocks;
  for (const int sender : from)
    for (const int receiver : to)
      if (sender != receiver) blocks.push_back({sender, receiver});
  return blocks;
}

/// The rounds of a rank, the nearest distances first: in each, a position hands on the blocks for all positions that
/// its peer reaches in the rounds that are left. A rank that sits out hands over its blocks first, and gets those for
/// it last. Cost: O(p log p) for p ranks.
inline std::vector<RoutedRound> bine_routes(Rank rank, int size) {
  const PairedPositions pairs = bine_positions(size);
  const std::vector<int> distances = swing_distances(pairs.core());
  const int own = pairs.position(rank);
  std::vector<int> all;
  for (int other = 0; other < size; ++other)
    all.push_back(other);
  const Rank partner{rank.value() ^ 1};
  if (pairs.sits_out(rank))
    return {{partner, blocks_between({rank.value()}, all), {}}, {partner, {}, blocks_between(all, {rank.value()})}};
  std::vector<RoutedRound> rounds;
  if (pairs.paired(own)) rounds.push_back({partner, {}, blocks_between({partner.value()}, all)});
  for (auto distance = distances.begin(); distance != distances.end(); ++distance) {
    const std::vector<int> before{std::make_reverse_iterator(distance), distances.rend()},
        after{distance + 1, distances.end()};
    const int peer = swing_peer(own, pairs.core(), *distance);
    const auto handed_on = [&](int from, int to) {
      return blocks_between(pairs.blocks(reached_over(from, pairs.core(), before)),
                            pairs.blocks(reached_over(to, pairs.core(), after)));
    };
    rounds.push_back({pairs.at(peer), handed_on(own, peer), handed_on(peer, own)});
  }
  if (pairs.paired(own)) rounds.push_back({partner, blocks_between(all, {partner.value()}), {}});
  return rounds;
}

/// The most blocks that a rank sends in those rounds, and that it receives for others. Cost: O(p log p).
struct RoutesFigures {
  int sent = 0, carried = 0;
  explicit RoutesFigures(int size) {
    const PairedPositions pairs = bine_positions(size);
    const std::vector<int> distances = swing_distances(pairs.core());
    std::vector<std::vector<int>> to(distances.size() + 1);  // ranks that a position reaches from each round on
    std::vector<int> from, sums(static_cast<std::size_t>(pairs.core())), carried_by = sums;
    for (int position = 0; position < pairs.core(); ++position) {
      from.push_back(pairs.paired(position) ? 2 : 1);  // ranks whose blocks a position has
      if (!pairs.paired(position)) continue;
      sums[static_cast<std::size_t>(position)] = size - 1;
      carried_by[static_cast<std::size_t>(position)] = size - 2;
    }
    const auto grown = [&](const std::vector<int>& ranks, int distance) {
      std::vector<int> more = ranks;
      for (int position = 0; position < pairs.core(); ++position)
        more[static_cast<std::size_t>(position)] +=
            ranks[static_cast<std::size_t>(swing_peer(position, pairs.core(), distance))];
      return more;
    };
    to.back() = from;
    for (std::size_t round = distances.size(); round-- > 0;)
      to[round] = grown(to[round + 1], distances[round]);
    for (std::size_t round = 0; round < distances.size(); ++round) {
      for (std::size_t position = 0; position < sums.size(); ++position) {
        const auto peer =
            static_cast<std::size_t>(swing_peer(static_cast<int>(position), pairs.core(), distances[round]));
        sums[position] += from[position] * to[round + 1][peer];
        carried_by[position] += from[peer] * (to[round + 1][position] - 1);
      }
      from = grown(from, distances[round]);
    }
    sent = *std::ranges::max_element(sums), carried = *std::ranges::max_element(carried_by);
  }
};

}  // namespace tutti
