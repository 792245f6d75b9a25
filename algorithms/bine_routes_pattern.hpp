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

/// The positions that hold the blocks which a position has before a round of the butterfly, and those for which its
/// peer will hand them on in the rounds after it.
struct HandedOn {
  std::vector<int> from, to;
  HandedOn(int position, int peer, int positions, const std::vector<int>& distances, std::size_t round)
      : from(reached_over(position, positions,
                          {distances.rend() - static_cast<std::ptrdiff_t>(round), distances.rend()})),
        to(reached_over(peer, positions,
                        {distances.begin() + static_cast<std::ptrdiff_t>(round) + 1, distances.end()})) {}
};

/// The rounds of a rank if there are few units: first those inside units, for the same places of all units at a time;
/// last each rank exchanges with those at its place.
inline std::vector<RoutedRound> bine_routes_of_units(Rank rank, const BineUnits& units) {
  const int place = rank.value() % units.size, own = rank.value() / units.size;
  const auto ranks_of = [&](const std::vector<int>& places, int first, int last) {
    std::vector<int> ranks;
    for (int unit = first; unit < last; ++unit)
      for (const int position : places)
        ranks.push_back(unit * units.size + position);
    return ranks;
  };
  const std::vector<int> distances = swing_distances(units.size);
  std::vector<RoutedRound> rounds;
  for (std::size_t round = 0; round < distances.size(); ++round) {
    const int peer = swing_peer(place, units.size, distances[round]);
    const auto blocks = [&](const HandedOn& positions) {
      return blocks_between(ranks_of(positions.from, own, own + 1), ranks_of(positions.to, 0, units.count));
    };
    rounds.push_back({Rank{own * units.size + peer}, blocks({place, peer, units.size, distances, round}),
                      blocks({peer, place, units.size, distances, round})});
  }
  const std::vector<int> all = reached_over(place, units.size, distances);
  for (int distance = 1; distance < units.count; ++distance) {
    const int to = (own + distance) % units.count, from = (own + units.count - distance) % units.count;
    const int receiver = to * units.size + place, sender = from * units.size + place;
    rounds.push_back({Rank{receiver}, blocks_between(ranks_of(all, own, own + 1), {receiver}), {}});
    rounds.push_back({Rank{sender}, {}, blocks_between(ranks_of(all, from, from + 1), {rank.value()})});
  }
  return rounds;
}

/// The rounds of a rank, the nearest distances first: in each, a position hands on the blocks for all positions that
/// its peer reaches in the rounds that are left. A rank that sits out hands over its blocks first, and gets those for
/// it last. Cost: O(p log p) for p ranks.
inline std::vector<RoutedRound> bine_routes(Rank rank, int size) {
  if (const BineUnits units{size}; units.are_few()) return bine_routes_of_units(rank, units);
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
  for (std::size_t round = 0; round < distances.size(); ++round) {
    const int peer = swing_peer(own, pairs.core(), distances[round]);
    const auto blocks = [&](const HandedOn& positions) {
      return blocks_between(pairs.blocks(positions.from), pairs.blocks(positions.to));
    };
    rounds.push_back({pairs.at(peer), blocks({own, peer, pairs.core(), distances, round}),
                      blocks({peer, own, pairs.core(), distances, round})});
  }
  if (pairs.paired(own)) rounds.push_back({partner, blocks_between(all, {partner.value()}), {}});
  return rounds;
}

/// The most blocks that a rank sends, and that it receives for others, if ranks are folded. Cost: O(p log p).
struct FoldedRoutes {
  int sent = 0, carried = 0;
  explicit FoldedRoutes(int size) {
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

/// The load of the busiest ranks in those rounds. Cost: O(p log p).
struct RoutesFigures {
  int messages, rounds;
  int sent;     ///< Blocks.
  int carried;  ///< Blocks received for others.
  explicit RoutesFigures(int size) {
    const BineUnits units{size};
    const FoldedRoutes folded{size};
    const BineFigures butterfly{size};
    const bool few = units.are_few();
    messages = few ? units.messages() : butterfly.messages();
    rounds = few ? units.longest_chain() : butterfly.longest_chain();
    sent = few ? units.sent() : folded.sent;
    carried = few ? units.carried() : folded.carried;
  }
};

}  // namespace tutti
