#include "apps/ranges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::apps {

std::string ranges_text(const std::vector<int>& numbers) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    ranges.push_back(last == i ? fmt::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

}  // namespace tutti::apps
