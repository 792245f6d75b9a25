#include "rank_schedules.hpp"

namespace tutti::checker {

Count size_of(const RankSchedule& own, Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return own.input;
    case Buffer::output:
      return own.output;
    case Buffer::scratch:
      return own.schedule.scratch;
  }
  return Count{0};
}

Count total(const Regions& regions) {
  Count sum;
  for (const Region& region : regions)
    sum += region.count;
  return sum;
}

bool overlap(const Region& a, const Region& b) {
  return a.buffer == b.buffer && std::max(a.offset, b.offset) < std::min(a.offset + a.count, b.offset + b.count);
}

}  // namespace tutti::checker
