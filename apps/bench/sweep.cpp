#include "apps/bench/sweep.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::bench {

std::vector<Count> sweep(Bytes least, Bytes most, int factor, Bytes element) {
  std::vector<Count> counts;
  for (std::int64_t size = least.value();; size *= factor) {
    const Count count{std::max<std::int64_t>(1, size / element.value())};
    if (counts.empty() || counts.back() != count) counts.push_back(count);
    if (size > most.value() / factor) return counts;
  }
}

int calls_per_round(double seconds_per_call) {
  if (!(seconds_per_call > round_seconds / most_calls)) return most_calls;
  return std::max(1, static_cast<int>(std::lround(round_seconds / seconds_per_call)));
}

}  // namespace tutti::bench
