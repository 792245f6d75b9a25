// Figures of pairs of ranks, as text and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/bench/pairs.hpp"
#include "apps/bench/records.hpp"

namespace tutti::bench {

namespace {

using apps::Json;

/// About four digits.
std::string cell(double value) { return fmt::format("{:.{}f}", value, value < 10 ? 3 : value < 100 ? 2 : 1); }

std::string explained(LinkFigure figure, const Pairs& pairs) {
  switch (figure) {
    case LinkFigure::latency:
      return fmt::format("latency (us): half the time of a message of {} bytes and its answer", pairs.short_bytes);
    case LinkFigure::bandwidth:
      return fmt::format("bandwidth (GB/s): messages of {} bytes, 8 at once", pairs.long_bytes);
    case LinkFigure::rate:
      break;
  }
  return fmt::format("rate (million messages/s): messages of {} bytes, 64 at once", pairs.short_bytes);
}

bool is_slow(const std::vector<SlowLink>& slow, LinkFigure figure, int from, int to) {
  return std::any_of(slow.begin(), slow.end(),
                     [&](const SlowLink& each) { return each.figure == figure && each.from == from && each.to == to; });
}

std::string matrix_text(const Pairs& pairs, LinkFigure figure, const std::vector<SlowLink>& slow) {
  constexpr std::size_t width = 8;
  std::string text = "# from\\to";
  for (int to = 0; to < pairs.ranks(); ++to) {
    text += fmt::format("{:>{}} ", to, width);
  }
  text.back() = '\n';
  for (int from = 0; from < pairs.ranks(); ++from) {
    text += fmt::format("{:>9}", from);
    for (int to = 0; to < pairs.ranks(); ++to) {
      const double value = pairs.of(figure).median[pairs.at(from, to)];
      text +=
          fmt::format("{:>{}}{}", from == to ? "-" : cell(value), width, is_slow(slow, figure, from, to) ? '!' : ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string usual_text(const Pairs& pairs, LinkFigure figure) {
  std::vector<std::string> kinds;
  const double inside = pairs.usual(figure, false), between = pairs.usual(figure, true);
  if (inside > 0) kinds.push_back(fmt::format("{} inside nodes", cell(inside)));
  if (between > 0) kinds.push_back(fmt::format("{} between nodes", cell(between)));
  return fmt::format("# median of all pairs: {} {}\n", fmt::join(kinds, ", "), unit_of(figure));
}

std::string slow_text(const SlowLink& link) {
  return fmt::format("# ! {} from rank {} to rank {}: {} {}, {:.1f} times worse than the median {} nodes\n",
                     to_string(link.figure), link.from, link.to, cell(link.value), unit_of(link.figure),
                     link.figure == LinkFigure::latency ? link.value / link.usual : link.usual / link.value,
                     link.is_between_nodes ? "between" : "inside");
}

/// A list of lists, by rank.
Json rows_of(const Pairs& pairs, const std::vector<double>& values) {
  Json rows = Json::array();
  for (int from = 0; from < pairs.ranks(); ++from) {
    Json row = Json::array();
    for (int to = 0; to < pairs.ranks(); ++to) {
      row.push_back(from == to ? Json(nullptr) : Json(values[pairs.at(from, to)]));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

std::string to_text(const Pairs& pairs) {
  const std::vector<SlowLink> slow = slow_links(pairs);
  if (pairs.ranks() < 2) return "#\n# one rank makes no pairs\n";
  std::string text;
  for (const LinkFigure figure : link_figures) {
    text += fmt::format("#\n# {}\n", explained(figure, pairs));
    if (pairs.ranks() <= most_ranks_shown) text += matrix_text(pairs, figure, slow);
    text += usual_text(pairs, figure);
  }
  text += fmt::format("#\n# !: even its best rounds are more than {:g} times worse than the median of its kind\n",
                      most_behind);
  for (const SlowLink& link : slow) {
    text += slow_text(link);
  }
  return text + fmt::format("# slow links: {}\n", slow.size());
}

std::string json_text(const Machine& machine, const Pairs& pairs) {
  Json figures = Json::object(), slow = Json::array();
  for (const LinkFigure figure : link_figures) {
    const auto usual = [&](bool between) {
      const double value = pairs.usual(figure, between);
      return value > 0 ? std::optional{value} : std::nullopt;
    };
    figures.set(to_string(figure), {{"unit", unit_of(figure)},
                                    {"median", rows_of(pairs, pairs.of(figure).median)},
                                    {"best_quarter", rows_of(pairs, pairs.of(figure).best)},
                                    {"usual_inside_nodes", usual(false)},
                                    {"usual_between_nodes", usual(true)}});
  }
  for (const SlowLink& link : slow_links(pairs)) {
    slow.push_back({{"figure", to_string(link.figure)},
                    {"from", link.from},
                    {"to", link.to},
                    {"value", link.value},
                    {"usual", link.usual},
                    {"between_nodes", link.is_between_nodes}});
  }
  return to_text(Json{{"environment", bench::to_json(machine)},
                      {"pairs",
                       {{"nodes", pairs.nodes},
                        {"short_bytes", pairs.short_bytes},
                        {"long_bytes", pairs.long_bytes},
                        {"rounds", pairs.rounds},
                        {"figures", std::move(figures)},
                        {"slow", std::move(slow)}}}});
}

}  // namespace tutti::bench
