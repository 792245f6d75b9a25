#include <algorithm>
#include <iterator>

#include "tutti/schedule_builder.hpp"

namespace tutti {

void AccessMap::cut(Count at) {
  auto right = intervals_.upper_bound(at);
  if (right == intervals_.begin()) return;
  auto left = std::prev(right);
  if (left->first == at || left->second.end <= at) return;
  Interval rest = left->second;
  left->second.end = at;
  intervals_.emplace_hint(right, at, std::move(rest));
}

/// Makes the intervals tile [begin, end) and returns the first.
AccessMap::Intervals::iterator AccessMap::cover(Count begin, Count end) {
  cut(begin);
  cut(end);
  auto next = intervals_.lower_bound(begin);
  for (Count at = begin; at < end; ++next) {
    if (next == intervals_.end() || next->first > at) {
      const Count stop = next == intervals_.end() ? end : std::min(end, next->first);
      next = intervals_.emplace_hint(next, at, Interval{stop, nobody, {}});
    }
    at = next->second.end;
  }
  return intervals_.find(begin);
}

void AccessMap::read(Count begin, Count end, int step, std::vector<int>& found) {
  for (auto it = cover(begin, end); it != intervals_.end() && it->first < end; ++it) {
    if (it->second.writer != nobody) found.push_back(it->second.writer);
    it->second.readers.push_back(step);
  }
}

void AccessMap::write(Count begin, Count end, int step, std::vector<int>& found) {
  const auto first = cover(begin, end);
  auto last = first;
  for (; last != intervals_.end() && last->first < end; ++last) {
    if (last->second.writer != nobody) found.push_back(last->second.writer);
    found.insert(found.end(), last->second.readers.begin(), last->second.readers.end());
  }
  first->second = Interval{end, step, {}};  // one writer: one interval
  intervals_.erase(std::next(first), last);
}

void Accesses::note(int step, const Regions& reads, const Regions& writes, std::vector<int>& found) {
  const auto each = [&](const Regions& regions, auto access) {
    for (const Region& region : regions) {
      const Region at = aliasing_.located(region);
      if (at.count > Count{0})
        (maps_[static_cast<std::size_t>(at.buffer)].*access)(at.offset, at.offset + at.count, step, found);
    }
  };
  each(reads, &AccessMap::read);
  each(writes, &AccessMap::write);
}

}  // namespace tutti
