#include "apps/bench/records.hpp"

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

}  // namespace tutti::bench
