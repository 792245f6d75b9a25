#pragma once
// How the blocks that a recursive halving leaves come together on one rank.

#include <bit>
#include <optional>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// The part of a rank of the core in the rounds of a recursive halving taken backwards: it receives the blocks that it
/// gave in those of `received`, then sends on those that it kept in round `sent`, if it is not the root.
struct HalvingGather {
  std::vector<Halving> received;
  std::optional<Halving> sent;
};

/// `rounds` are those of the rank of `fold`. A root that sits out takes the place of the rank that stands for it.
inline HalvingGather gather_after(const std::vector<Halving>& rounds, const Folding& fold, Rank root, int size) {
  const Folding of_root{root, size};
  HalvingGather gather;
  const auto apart = static_cast<std::size_t>(
      std::bit_width(static_cast<unsigned>(fold.position()) ^ static_cast<unsigned>(of_root.position())));
  for (std::size_t round = rounds.size(); round-- > apart;)
    gather.received.push_back(rounds[round]);
  if (apart == 0) return gather;
  gather.sent = rounds[apart - 1];
  if (of_root.sits_out() && gather.sent->peer == of_root.partner()) gather.sent->peer = root;
  return gather;
}

}  // namespace tutti
