#include "apps/tune/guidelines.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tutti::tune {
namespace {

constexpr double tolerance = 1.1;

/// The first collective does what the two others do one after the other, on the same bytes of the larger buffer.
struct Guideline {
  std::string_view whole, one, other;
};
constexpr Guideline guidelines[] = {
    {"allreduce", "reduce", "broadcast"},    {"allgather", "gather", "broadcast"},
    {"reduce_scatter", "reduce", "scatter"}, {"broadcast", "scatter", "allgather"},
    {"reduce", "reduce_scatter", "gather"},  {"allreduce", "reduce_scatter", "allgather"}};

const Timed& time_of(const Point& point) { return *point.find(point.use); }

/// Nullptr: it was not measured.
const Timed* time_at(const Points& points, const std::string& context, std::int64_t bytes) {
  const auto found = points.find(context);
  if (found == points.end()) return nullptr;
  for (const Point& point : found->second)
    if (point.bytes == bytes) return &time_of(point);
  return nullptr;
}

/// Whether a time is longer than another one, by more than the rounds of both differ. `upper`: of that other one.
bool is_longer(const Timed& time, double us, double upper) { return time.us > tolerance * us && time.lower > upper; }

/// "world/allreduce/host/blocking" in parts around the collective.
struct Name {
  std::string before, collective, behind;
  [[nodiscard]] std::string of(std::string_view other) const { return before + std::string{other} + behind; }
};
Name parts_of(const std::string& name) {
  const std::size_t first = name.find('/'), second = name.find('/', first + 1);
  return {name.substr(0, first + 1), name.substr(first + 1, second - first - 1), name.substr(second)};
}

}  // namespace

std::vector<std::string> violations(const Points& points) {
  std::vector<std::string> found;
  for (const auto& [name, row] : points) {
    const Name parts = parts_of(name);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const Timed& time = time_of(row[i]);
      for (const auto& [whole, one, other] : guidelines) {
        if (parts.collective != whole) continue;
        const Timed* const a = time_at(points, parts.of(one), row[i].bytes);
        const Timed* const b = time_at(points, parts.of(other), row[i].bytes);
        if (a != nullptr && b != nullptr && is_longer(time, a->us + b->us, a->upper + b->upper))
          found.push_back(fmt::format("{} of {} bytes takes {:.2f} times as long as {} and {}", name, row[i].bytes,
                                      time.us / (a->us + b->us), one, other));
      }
      if (i + 1 == row.size()) continue;
      const Timed& more = time_of(row[i + 1]);
      if (is_longer(time, more.us, more.upper))
        found.push_back(fmt::format("{} of {} bytes takes {:.2f} times as long as of {} bytes", name, row[i].bytes,
                                    time.us / more.us, row[i + 1].bytes));
    }
  }
  return found;
}

}  // namespace tutti::tune
