// Measured thresholds, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/bench/records.hpp"
#include "apps/bench/text.hpp"
#include "apps/bench/thresholds.hpp"

namespace tutti::bench {

namespace {

using apps::Json;

constexpr std::string_view unclear_text = "no clear difference";

std::string_view to_string(Faster faster) {
  switch (faster) {
    case Faster::first:
      return "first";
    case Faster::second:
      return "second";
    case Faster::unclear:
      break;
  }
  return "unclear";
}

std::string ways_text(const Threshold& threshold) {
  if (threshold.collective.empty()) return {};
  if (threshold.first.empty()) return std::string{threshold.collective};
  return fmt::format("{}: {} | {}", threshold.collective, threshold.first, threshold.second);
}

Json to_json(const Comparison& point) {
  return {{"at", point.at},
          {"first_us", bench::to_json(point.first_us)},
          {"second_us", bench::to_json(point.second_us)},
          {"ratio", point.ratio},
          {"faster", to_string(point.faster)}};
}

Json to_json(const Threshold& threshold) {
  Json points = Json::array();
  for (const Comparison& point : threshold.points) {
    points.push_back(to_json(point));
  }
  const auto text = [](const std::string& given) { return given.empty() ? Json(nullptr) : Json(given); };
  return {{"member", threshold.member},
          {"file", threshold.file},
          {"collective", text(std::string{threshold.collective})},
          {"first", text(threshold.first)},
          {"second", text(threshold.second)},
          {"unit", threshold.unit},
          {"today", threshold.today},
          {"measured", threshold.measured},
          {"value", threshold.value},
          {"ratio_below", threshold.sides.below},
          {"ratio_above", threshold.sides.above},
          {"why_not", text(threshold.why_not)},
          {"points", std::move(points)}};
}

}  // namespace

std::string crossing_text(const Crossing& crossing) {
  switch (crossing.kind) {
    case Crossing::Kind::never:
      return "never";
    case Crossing::Kind::always:
      return "always";
    case Crossing::Kind::at:
      return fmt::to_string(crossing.last_before);
    case Crossing::Kind::unclear:
      break;
  }
  return std::string{unclear_text};
}

std::string ranks_text(const Crossing& crossing, int ranks) {
  switch (crossing.kind) {
    case Crossing::Kind::never:
      return fmt::format("at least {}", ranks);
    case Crossing::Kind::always:
      return fmt::format("fewer than {}", ranks);
    case Crossing::Kind::at:
      return fmt::format("on {}, up to {} bytes", ranks, crossing.last_before);
    case Crossing::Kind::unclear:
      break;
  }
  return std::string{unclear_text};
}

std::string to_text(const Threshold& threshold) {
  const std::size_t first = std::max<std::size_t>(8, threshold.first.size());
  const std::size_t second = std::max<std::size_t>(8, threshold.second.size());
  const auto line = [&](std::string_view a, std::string_view b, std::string_view c, std::string_view d,
                        std::string_view e) {
    return fmt::format("{:>11} {:>{}} {:>{}} {:>7} {}\n", a, b, first, c, second, d, e);
  };
  std::string text = fmt::format("#\n# {} ({})\n# {}\n", threshold.member, threshold.file, ways_text(threshold));
  std::string titles = line("size", threshold.first, threshold.second, "ratio", "faster");
  std::string units = fmt::format("{:>11} {:>{}} {:>{}}\n", "(B)", "(us)", first, "(us)", second);
  titles.front() = units.front() = '#';
  text += titles + units;
  for (const Comparison& point : threshold.points) {
    text += line(fmt::to_string(point.at), time_text(point.first_us.median), time_text(point.second_us.median),
                 ratio_text(point.ratio), to_string(point.faster));
  }
  return text;
}

std::string summary_text(std::span<const Threshold> thresholds) {
  std::size_t member = 6, measured = 8;  // the titles
  for (const Threshold& threshold : thresholds) {
    member = std::max(member, threshold.member.size());
    measured = std::max(measured, threshold.measured.size());
  }
  const auto line = [&](std::string_view name, std::string_view today, std::string_view value, std::string_view below,
                        std::string_view above, std::string_view ways) {
    return fmt::format("# {:<{}} {:>8} {:>{}} {:>7} {:>7}  {}\n", name, member, today, value, measured, below, above,
                       ways);
  };
  std::string text =
      "#\n# Thresholds: the first way is taken up to them. ratio: the time of the second way over that of the first\n"
      "# always, never: the second way is faster at all sizes, at none. below, above: mean ratios on both sides\n";
  text += line("member", "today", "measured", "below", "above", "what was measured");
  for (const Threshold& each : thresholds) {
    const std::string ways = each.why_not.empty() ? ways_text(each) : each.why_not;
    text += line(each.member, fmt::to_string(each.today), each.measured, ratio_text(each.sides.below),
                 ratio_text(each.sides.above), ways);
  }
  return text;
}

std::string json_text(const Machine& machine, std::span<const Threshold> thresholds) {
  Json all = Json::array();
  for (const Threshold& threshold : thresholds) {
    all.push_back(to_json(threshold));
  }
  return to_text(Json{{"environment", bench::to_json(machine)}, {"thresholds", std::move(all)}});
}

}  // namespace tutti::bench
