#include "lib/core/transport/shm/segment/arena.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tutti::shm {

std::optional<Arena::Part> Arena::take(std::int64_t bytes) {
  if (bytes > std::numeric_limits<std::int64_t>::max() - unit_) return {};
  const std::int64_t wanted = (bytes + unit_ - 1) / unit_ * unit_;
  const auto room = std::ranges::find_if(free_, [&](const auto& part) { return part.second - part.first >= wanted; });
  if (room == free_.end()) return {};
  const auto [begin, end] = *room;
  free_.erase(room);
  if (begin + wanted < end) free_.emplace(begin + wanted, end);
  taken_.emplace(begin, begin + wanted);
  return Part{begin, wanted};
}

Arena::Part Arena::give_back(std::int64_t offset) {
  const auto taken = taken_.find(offset);
  auto [begin, end] = *taken;
  const Part part{begin, end - begin};
  taken_.erase(taken);
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == end) {
    end = next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && std::prev(next)->second == begin)
    std::prev(next)->second = end;
  else
    free_.emplace_hint(next, begin, end);
  return part;
}

}  // namespace tutti::shm
