#include "text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <map>
#include <vector>

namespace tutti {
namespace {

std::string_view name(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return "input";
    case Buffer::output:
      return "output";
    case Buffer::scratch:
      return "scratch";
  }
  return "?";
}

std::string list(const Regions& regions) {
  if (regions.empty()) return "signal";
  std::vector<std::string> texts;
  for (const Region& region : regions)
    texts.push_back(to_text(region));
  return fmt::format("{}", fmt::join(texts, " + "));
}

std::string numbered(int message) { return message == 0 ? "" : fmt::format(" (message {})", message); }

struct Describe {
  std::string operator()(const Send& s) const {
    return fmt::format("send {} to {}{}", list(s.from), s.to.value(), numbered(s.message));
  }
  std::string operator()(const Recv& r) const {
    const std::string received = fmt::format("recv {} from {}{}", list(r.into), r.from.value(), numbered(r.message));
    return r.then ? received + ", " + (*this)(*r.then) : received;
  }
  std::string operator()(const Reduce& r) const {
    return fmt::format("reduce {} = {} (+) {}", to_text(r.into), to_text(r.lhs), to_text(r.rhs));
  }
  std::string operator()(const Copy& c) const {
    if (c.into.count == Count{0}) return "wait for the steps before";  // a copy of nothing only orders
    return fmt::format("copy {} = {}", to_text(c.into), to_text(c.from));
  }
};

}  // namespace

std::string to_text(const Region& region) {
  // Of a wrong region the end may be beyond all numbers.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t offset = region.offset.value(), count = region.count.value();
  const std::int64_t end = count > 0 && offset > most - count ? most : offset + count;
  return fmt::format("{}[{}..{})", name(region.buffer), offset, end);
}

std::string to_text(const Action& action) { return std::visit(Describe{}, action); }

std::string to_text(const Schedule& schedule) {
  std::string text;
  for (const Step& step : schedule.steps)
    text += fmt::format("{}\n", to_text(step.action));
  if (schedule.scratch > Count{0}) text += fmt::format("scratch {} elements\n", schedule.scratch.value());
  return text;
}

std::string to_text(const Schedule& schedule, std::span<const int> rounds) {
  std::map<int, std::string> steps_of;
  for (std::size_t step = 0; step < schedule.steps.size(); ++step)
    steps_of[rounds[step]] += fmt::format("  {}\n", to_text(schedule.steps[step].action));
  std::string text;
  for (const auto& [round, steps] : steps_of)
    text += fmt::format("round {}\n{}", round, steps);
  if (schedule.scratch > Count{0}) text += fmt::format("scratch {} elements\n", schedule.scratch.value());
  return text;
}

}  // namespace tutti
