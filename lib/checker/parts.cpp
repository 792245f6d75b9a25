#include "parts.hpp"

namespace tutti::checker {

Parts parts_of(const Algorithm& algorithm, int size, Count count, const std::function<Aliasing(Rank)>& aliasing) {
  Parts parts;
  parts.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank) {
    const Problem problem{Rank{rank}, size, count, aliasing(Rank{rank})};
    parts.push_back({count, count, problem.aliasing, algorithm.build(problem)});
  }
  return parts;
}

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

Region located(const Part& part, const Region& region) {
  if (region.buffer != Buffer::input || !part.aliasing.offset()) return region;
  return {Buffer::output, *part.aliasing.offset() + region.offset, region.count};
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
