#pragma once
// The bytes that a kernel touched, as few ranges.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace fake_cuda {

/// Ranges that meet or overlap are one.
class ByteRanges {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin() && std::prev(next)->second >= begin) {
      --next;
      if (next->second >= end) return;
      begin = next->first;
    }
    while (next != ranges_.end() && next->first <= end) {
      end = std::max(end, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace_hint(next, begin, end);
  }
  /// Ends by their beginnings.
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& all() const { return ranges_; }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

}  // namespace fake_cuda
