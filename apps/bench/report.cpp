#include "apps/bench/report.hpp"

#include <utility>

#include "apps/bench/best.hpp"

namespace tutti::bench {

using apps::Json;

Json to_json(const Machine& machine, std::span<const Record> records) {
  Json results = Json::array(), summaries = Json::array(), best = Json::array();
  for (const Record& record : records) {
    results.push_back(to_json(record));
  }
  for (const Summary& summary : summarised(records)) {
    summaries.push_back(to_json(summary));
  }
  for (const Best& each : best_of(records)) {
    best.push_back(to_json(each));
  }
  return {{"environment", to_json(machine)},
          {"results", std::move(results)},
          {"summary", std::move(summaries)},
          {"best", std::move(best)}};
}

std::string json_text(const Machine& machine, std::span<const Record> records) {
  return to_text(to_json(machine, records));
}

}  // namespace tutti::bench
