#pragma once
// Recursive multiplying: groups of k ranks instead of the pairs of recursive doubling.

#include <algorithm>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// A group of any size folded onto a core of m k^a positions, the largest with m < k that is not larger. The first
/// 2 (size - core) ranks pair up; the even one of a pair sits out, the odd one stands for both. Positions follow the
/// order of ranks. In round i, the k (at last m) positions that differ in digit i only exchange.
class Multiplying {
 public:
  Multiplying(Rank rank, int size, int radix) : rank_(rank.value()), size_(size) {
    while (core_ <= size / radix)
      core_ *= radix, radices_.push_back(radix);
    if (const int rest = size / core_; rest > 1) core_ *= rest, radices_.push_back(rest);
  }
  [[nodiscard]] int core() const { return core_; }
  [[nodiscard]] bool even() const { return size_ == core_; }
  [[nodiscard]] bool paired() const { return rank_ < 2 * extra(); }
  [[nodiscard]] bool sits_out() const { return paired() && rank_ % 2 == 0; }
  [[nodiscard]] Rank partner() const { return Rank{rank_ ^ 1}; }
  /// The radix of each round.
  [[nodiscard]] const std::vector<int>& radices() const { return radices_; }
  [[nodiscard]] int largest_radix() const {
    return radices_.empty() ? 1 : *std::max_element(radices_.begin(), radices_.end());
  }
  /// Messages that a rank sends at most: a rank that stands for two, if there are any.
  [[nodiscard]] int messages() const {
    int messages = even() ? 0 : 1;
    for (const int radix : radices_)
      messages += radix - 1;
    return messages;
  }
  /// The ranks that exchange in each round, in order. Only for ranks that do not sit out.
  [[nodiscard]] std::vector<Group> groups() const {
    std::vector<Group> groups;
    const int position = paired() ? rank_ / 2 : rank_ - extra();
    int distance = 1;
    for (const int radix : radices_) {
      const int digit = position / distance % radix;
      Group group{{}, digit};
      for (int place = 0; place < radix; ++place)
        group.ranks.push_back(at(position + (place - digit) * distance));
      groups.push_back(std::move(group));
      distance *= radix;
    }
    return groups;
  }
  /// The longest chain of messages. It leads through a position of a pair at both ends only if two of those differ in
  /// every digit, hence in the last.
  [[nodiscard]] int longest_chain() const {
    const int rounds = static_cast<int>(radices_.size());
    if (even()) return rounds;
    return rounds + (extra() > core_ / radices_.back() ? 2 : 1);
  }

 private:
  [[nodiscard]] int extra() const { return size_ - core_; }
  [[nodiscard]] Rank at(int position) const { return Rank{position + std::min(position + 1, extra())}; }
  int rank_, size_, core_ = 1;
  std::vector<int> radices_;
};

}  // namespace tutti
