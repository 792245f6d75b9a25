#pragma once
// A set of bytes.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace tutti::device {

/// [first, last)
struct Interval {
  std::int64_t first = 0, last = 0;
  [[nodiscard]] std::int64_t bytes() const { return last - first; }
  [[nodiscard]] bool overlaps(const Interval& other) const { return first < other.last && other.first < last; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Intervals that neither overlap nor touch each other.
class Intervals {
 public:
  void add(Interval added) {
    if (added.first >= added.last) return;
    for (auto next = touching(added.first); next != all_.end() && next->first <= added.last; next = all_.erase(next))
      added = {std::min(added.first, next->first), std::max(added.last, next->second)};
    all_.emplace(added.first, added.last);
  }
  /// The parts of an interval that are not in the set.
  [[nodiscard]] std::vector<Interval> missing(Interval wanted) const {
    std::vector<Interval> parts;
    for (auto next = touching(wanted.first); next != all_.end() && next->first < wanted.last; ++next) {
      if (next->first > wanted.first) parts.push_back({wanted.first, next->first});
      wanted.first = std::max(wanted.first, next->second);
    }
    if (wanted.first < wanted.last) parts.push_back(wanted);
    return parts;
  }
  [[nodiscard]] std::vector<Interval> all() const {
    std::vector<Interval> list;
    for (const auto& [first, last] : all_)
      list.push_back({first, last});
    return list;
  }

 private:
  using Map = std::map<std::int64_t, std::int64_t>;
  /// The first that does not end before `at`.
  [[nodiscard]] Map::const_iterator touching(std::int64_t at) const {
    auto next = all_.upper_bound(at);
    if (next != all_.begin() && std::prev(next)->second >= at) --next;
    return next;
  }
  Map all_;  ///< By first byte: behind the last one.
};

}  // namespace tutti::device
