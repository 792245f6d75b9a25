#include "apps/bench/summary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::bench {

namespace {

std::string_view asked(const Record& record) {
  if (record.is_auto) return "auto";
  return record.algorithm;
}

bool is_about(const Summary& summary, const Record& record) {
  return summary.collective == record.collective && summary.algorithm == asked(record);
}

std::optional<double> mean_ratio(std::span<const Record> records, const Summary& summary, Placement placement) {
  std::vector<double> ratios;
  for (const Record& record : records) {
    if (record.peer && record.placement == placement && is_about(summary, record)) {
      ratios.push_back(record.peer->ratio);
    }
  }
  return geometric_mean(ratios);
}

}  // namespace

std::string ratio_text(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.3f}", *ratio) : "-"; }

std::vector<Summary> summarised(std::span<const Record> records) {
  std::vector<Summary> summaries;
  for (const Record& record : records) {
    auto found =
        std::find_if(summaries.begin(), summaries.end(), [&](const Summary& s) { return is_about(s, record); });
    if (found == summaries.end()) {
      summaries.push_back({record.collective, std::string{asked(record)}, {}, {}, {}});
      found = summaries.end() - 1;
    }
    if (record.wrong) found->wrong = found->wrong.value_or(0) + *record.wrong;
  }
  for (Summary& summary : summaries) {
    summary.out_of_place = mean_ratio(records, summary, Placement::out_of_place);
    summary.in_place = mean_ratio(records, summary, Placement::in_place);
  }
  return summaries;
}

std::string to_text(std::span<const Summary> summaries) {
  std::size_t collective = 10, algorithm = 9;  // the titles
  std::optional<std::int64_t> wrong;
  for (const Summary& summary : summaries) {
    collective = std::max(collective, summary.collective.size());
    algorithm = std::max(algorithm, summary.algorithm.size());
    if (summary.wrong) wrong = wrong.value_or(0) + *summary.wrong;
  }
  const auto line = [&](std::string_view name, std::string_view how, std::string_view out, std::string_view in,
                        std::string_view bad) {
    return fmt::format("# {:<{}} {:<{}} {:>12} {:>8} {:>6}\n", name, collective, how, algorithm, out, in, bad);
  };
  std::string text = "#\n# Summary: geometric means of the ratios\n";
  text += line("collective", "algorithm", "out of place", "in place", "#wrong");
  for (const Summary& s : summaries) {
    text += line(s.collective, s.algorithm, ratio_text(s.out_of_place), ratio_text(s.in_place),
                 s.wrong ? fmt::to_string(*s.wrong) : "-");
  }
  return wrong ? text + fmt::format("# wrong elements in all: {}\n", *wrong) : text;
}

}  // namespace tutti::bench
