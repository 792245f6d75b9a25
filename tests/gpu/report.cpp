// Puts together what scripts/gpu_check.sh has measured: results.json, and gpu-machine.md for people.
//   gpu_report FOLDER ROOT
//   gpu_report --files: those that ROOT must have.
// Reads in the folder, as far as they are there: facts.txt, parts.txt and steps.txt (columns with tabs),
// probe.first.json and probe.rest.json of gpu_probe, bench.WAY.PLACE.pN.json of tutti-bench, tuned.WAY.PLACE.pN.json of
// tutti tune, and nccl.PLACE.pN.json of nccl_bench. WAY: one of ways. PLACE: shared (one device) or spread (a device
// for each rank). ROOT has the sources of the constants that the figures decide.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/gpu/report.hpp"
#include "tests/gpu/traffic.hpp"

namespace tutti::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::array ways{"direct", "staged", "staged_host", "staged_device", "stream"};
constexpr std::array places{"shared", "spread"};

std::vector<std::vector<std::string>> read_columns(const fs::path& file) {
  std::vector<std::vector<std::string>> lines;
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> columns;
    std::istringstream text{line};
    for (std::string column; std::getline(text, column, '\t');)
      columns.push_back(column);
    lines.push_back(std::move(columns));
  }
  return lines;
}

/// null: the file is not there, or is not JSON, since the program that writes it was stopped.
Json read_json(const fs::path& file) {
  std::ifstream in{file};
  return in ? Json::parse(in, nullptr, false) : Json{};
}

/// The rates of reductions as shares of the rate of copies: both in bytes read and written.
Json with_shares(Json questions, double on_device) {
  for (Json& question : questions)
    for (Json& each : question["figures"])
      if (each["name"] == "reduction" && on_device > 0) each["share_of_copy"] = each["value"].get<double>() / on_device;
  return questions;
}

/// Microseconds of one way, at one size of one collective.
struct Times {
  std::map<std::string, double> of_way;
};
/// Place, collective, ranks.
using Case = std::tuple<std::string, std::string, int>;
using Cases = std::map<Case, std::map<std::int64_t, Times>>;

void add(Cases& cases, const std::string& place, const std::string& way, const Json& file) {
  if (!file.is_object() || !file.contains("results")) return;
  for (const Json& result : file["results"]) {
    Times& times = cases[{place, result["collective"], result["ranks"]}][result["bytes"]];
    times.of_way[way] = result["time_us"]["median"];
    if (result.contains("peer") && result["peer"].is_object())
      times.of_way["mpi"] = result["peer"]["time_us"]["median"];
  }
}

Cases read_cases(const fs::path& folder) {
  Cases cases;
  for (const fs::directory_entry& entry : fs::directory_iterator{folder}) {
    const std::string name = entry.path().filename();
    for (const char* place : places) {
      for (const char* way : ways)
        if (name.starts_with(fmt::format("bench.{}.{}.", way, place)) && name.ends_with(".json"))
          add(cases, place, way, read_json(entry.path()));
      if (name.starts_with(fmt::format("nccl.{}.", place)) && name.ends_with(".json"))
        add(cases, place, "nccl", read_json(entry.path()));
    }
  }
  return cases;
}

/// One collective on so many ranks: its sizes, and from which one on it reaches half of the limit.
Json to_json(const Case& which, const std::map<std::int64_t, Times>& sizes, double gigabytes_per_second) {
  const auto& [place, collective, ranks] = which;
  Json results = Json::array();
  Json half = nullptr, most = nullptr;
  for (const auto& [bytes, times] : sizes) {
    Json each{{"bytes", bytes}, {"time_us", times.of_way}, {"limit_us", nullptr}, {"share", nullptr}};
    const auto traffic =
        least_traffic(collective, ranks, bytes, place == "shared" ? Placement::shared : Placement::spread);
    if (traffic && gigabytes_per_second > 0) {
      const double limit = *traffic / gigabytes_per_second / 1e3;
      each["limit_us"] = limit;
      if (const auto direct = times.of_way.find("direct"); direct != times.of_way.end() && direct->second > 0) {
        const double share = limit / direct->second;
        each["share"] = share;
        if (share >= 0.5 && half.is_null()) half = bytes;
        if (share < 0.5) half = nullptr;
        if (most.is_null() || share > most.get<double>()) most = share;
      }
    }
    results.push_back(std::move(each));
  }
  return {{"collective", collective},
          {"ranks", ranks},
          {"place", place},
          {"limit_GBps", gigabytes_per_second},
          {"half_of_limit_from_bytes", half},
          {"largest_share", most},
          {"results", results}};
}

/// The questions of both parts of the probe.
Json read_probe(const fs::path& folder) {
  Json questions = Json::array();
  for (const char* part : {"first", "rest"}) {
    const Json probe = read_json(folder / fmt::format("probe.{}.json", part));
    if (probe.is_object()) questions.insert(questions.end(), probe["questions"].begin(), probe["questions"].end());
  }
  return questions;
}

/// The files of rules that `tutti tune` has written, each with the place and the ranks that were measured.
Json read_tuned(const fs::path& folder) {
  Json all = Json::array();
  for (const char* way : {"direct", "staged"}) {
    for (const char* place : places) {
      for (const int ranks : {2, 4, 8}) {
        const Json file = read_json(folder / fmt::format("tuned.{}.{}.p{}.json", way, place, ranks));
        if (!file.is_object()) continue;
        all.push_back({{"way", way}, {"place", place}, {"ranks", ranks}, {"rules", file["rules"]}});
        all.back()["tuning"] = file.value("tuning", Json::object());
      }
    }
  }
  return all;
}

Json all_of(const fs::path& folder) {
  Json all{{"facts", Json::object()}, {"parts", Json::array()}, {"steps", Json::array()}};
  for (const auto& columns : read_columns(folder / "facts.txt"))
    if (columns.size() >= 2) all["facts"][columns[0]] = columns[1];
  for (const auto& columns : read_columns(folder / "parts.txt"))
    if (columns.size() >= 3)
      all["parts"].push_back(
          {{"name", columns[0]}, {"seconds", std::stod(columns[1])}, {"allowed_seconds", std::stod(columns[2])}});
  for (const auto& columns : read_columns(folder / "steps.txt"))
    if (columns.size() >= 4)
      all["steps"].push_back({{"part", columns[0]},
                              {"name", columns[1]},
                              {"state", columns[2]},
                              {"seconds", std::stod(columns[3])},
                              {"why", columns.size() > 4 ? columns[4] : ""}});
  all["probe"] = read_probe(folder);
  const double on_device = figure(all, "copy_on_device").value_or(0),
               between = figure(all, "ipc_peer_copy").value_or(0);
  all["probe"] = with_shares(all["probe"], on_device);
  all["collectives"] = Json::array();
  for (const auto& [which, sizes] : read_cases(folder))
    all["collectives"].push_back(to_json(which, sizes, std::get<0>(which) == "shared" ? on_device : between));
  all["tuned"] = read_tuned(folder);
  return all;
}

}  // namespace
}  // namespace tutti::gpu

int main(int argc, char** argv) {
  using namespace tutti::gpu;
  if (argc == 2 && std::string_view{argv[1]} == "--files") {
    for (const std::string& file : decided_files())
      fmt::print("{}\n", file);
    return 0;
  }
  if (argc != 3 || !std::filesystem::is_directory(argv[1])) {
    fmt::print(stderr, "Usage: gpu_report FOLDER ROOT\n       gpu_report --files\n");
    return 2;
  }
  try {
    const fs::path folder{argv[1]};
    Json all = all_of(folder);
    all["decisions"] = decisions(all, argv[2]);
    std::ofstream{folder / "results.json"} << all.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    std::ofstream{folder / "gpu-machine.md"} << to_markdown(all);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_report: {}\n", error.what());
    return 1;
  }
}
