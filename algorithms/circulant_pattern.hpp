#pragma once
// Circulant graphs: in every round each rank has a peer at the same distance round a circle.

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// Blocks in a circle as one rank counts them: from its own, block 0, forward.
class Arcs {
 public:
  /// `own` of the blocks is this rank's.
  Arcs(Blocks blocks, int own, bool forward_is_up) : blocks_(std::move(blocks)), own_(own), up_(forward_is_up) {}
  /// The blocks first..last-1, in the order of memory from the lowest on: at most two regions if they lie side by side.
  [[nodiscard]] Regions arc(int first, int last) const {
    Regions regions;
    if (first >= last) return regions;
    const int parts = blocks_.parts();
    const int begin = (parts + (up_ ? own_ + first : own_ - last + 1)) % parts, end = begin + last - first;
    append(regions, blocks_.list(begin, std::min(end, parts)));
    if (end > parts) append(regions, blocks_.list(0, end - parts));
    return regions;
  }
  /// The two lists of an arc that was cut, in the order of arc().
  [[nodiscard]] Regions joined(Regions near, Regions far) const {
    if (!up_) std::swap(near, far);
    append(near, far);
    return near;
  }
  /// The elements of the blocks first..last-1.
  [[nodiscard]] Count elements(int first, int last) const {
    Count sum;
    for (const Region& region : arc(first, last))
      sum += region.count;
    return sum;
  }

 private:
  static void append(Regions& regions, const Regions& more) {
    for (const Region& region : more)
      Blocks::append(regions, region);
  }
  Blocks blocks_;
  int own_;
  bool up_;
};

/// The rounds of a reduce-scatter on a circulant graph. A rank works on the blocks 0..held-1, counted forward from its
/// own. It hands on those from `skip` on to the rank that far ahead, where they are the first ones. `held` is at first
/// the size, later the skip of the round before, at last 2. Backwards, the same rounds are an allgather.
class Circulant {
 public:
  struct Round {
    int skip, held;
  };
  /// Skips that are halved, rounded up (Traeff 2024). Forward is down.
  static Circulant halving(Rank rank, int size) {
    return {rank, size, false, [](int held) { return (held + 1) / 2; }};
  }
  /// Skips that are powers of two (Bruck et al. 1997). Forward is up.
  static Circulant powers_of_two(Rank rank, int size) {
    return {rank, size, true,
            [](int held) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(held - 1))); }};
  }
  [[nodiscard]] const std::vector<Round>& rounds() const { return rounds_; }
  [[nodiscard]] Rank ahead(int skip) const { return Rank{ring_.behind(-skip)}; }
  [[nodiscard]] Rank behind(int skip) const { return Rank{ring_.behind(skip)}; }
  [[nodiscard]] Arcs arcs(const Blocks& blocks) const { return {blocks, ring_.behind(0), up_}; }
  /// The first `partials()` of the blocks, where they are laid side by side and not in a circle.
  [[nodiscard]] Arcs arcs_of_partials(const Blocks& blocks) const { return {blocks, up_ ? 0 : partials() - 1, up_}; }

  /// The numbers of those blocks in the circle, in the order in which they lie.
  [[nodiscard]] std::vector<int> order_of_partials() const {
    std::vector<int> order(static_cast<std::size_t>(partials()));
    std::iota(order.begin(), order.end(), 0);
    if (!up_) std::reverse(order.begin(), order.end());
    return order;
  }

  /// The most blocks that any round of a reduce-scatter receives: all partial sums that there are.
  [[nodiscard]] int partials() const {
    int most = 0;
    for (const auto& [skip, held] : rounds_)
      most = std::max(most, held - skip);
    return most;
  }
  /// The most of them that a round receives after others have received them before.
  [[nodiscard]] int repeated() const {
    int before = 0, most = 0;
    for (const auto& [skip, held] : rounds_) {
      most = std::max(most, std::min(before, held - skip));
      before = std::max(before, held - skip);
    }
    return most;
  }
  /// The longest chain of messages, each of which carries data of the one before. A round hands on data that an earlier
  /// one received only if the blocks of the earlier one reached beyond this round's skip.
  [[nodiscard]] int longest_chain() const {
    std::vector<int> chains;
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      chains.push_back(1);
      for (std::size_t k = 0; k < i; ++k)
        if (rounds_[i].skip < rounds_[k].held - rounds_[k].skip) chains[i] = std::max(chains[i], chains[k] + 1);
    }
    return chains.empty() ? 0 : *std::max_element(chains.begin(), chains.end());
  }

 private:
  template <class Shorter>
  Circulant(Rank rank, int size, bool up, Shorter shorter)
      : ring_(up ? Ring{rank, size} : Ring{rank, size}.reversed()), up_(up) {
    for (int held = size; held > 1; held = shorter(held))
      rounds_.push_back({shorter(held), held});
  }
  Ring ring_;
  bool up_;
  std::vector<Round> rounds_;
};

}  // namespace tutti
