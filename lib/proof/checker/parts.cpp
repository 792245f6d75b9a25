#include "parts.hpp"

namespace tutti::checker {

Count size_of(const Part& part, Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return part.input;
    case Buffer::output:
      return part.output;
    case Buffer::scratch:
      return part.schedule.scratch;
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
