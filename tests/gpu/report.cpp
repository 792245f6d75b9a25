// Puts together what scripts/gpu_check.sh has measured: results.json, and results.md for people.
//   gpu_report FOLDER
// Reads in the folder, as far as they are there: facts.txt and steps.txt (columns with tabs), probe.json of gpu_probe,
// bench.WAY.PLACE.pN.json of tutti-bench, and nccl.PLACE.pN.json of nccl_bench. WAY: direct, staged or stream. PLACE:
// shared (one device) or spread (a device for each rank).
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

#include "tests/gpu/traffic.hpp"

namespace tutti::gpu {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

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

/// The figure of the probe that was measured with most bytes; 0: there is none.
double figure(const Json& probe, std::string_view name) {
  double found = 0;
  if (!probe.is_object()) return found;
  for (const Json& question : probe["questions"])
    for (const Json& each : question["figures"])
      if (each["name"] == name && each.contains("value")) found = each["value"];
  return found;
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
    for (const char* place : {"shared", "spread"}) {
      for (const char* way : {"direct", "staged", "stream"})
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
    const auto traffic = least_traffic(collective, ranks, bytes, place == "shared" ? Place::shared : Place::spread);
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

Json all_of(const fs::path& folder) {
  Json all{{"facts", Json::object()}, {"steps", Json::array()}};
  for (const auto& columns : read_columns(folder / "facts.txt"))
    if (columns.size() >= 2) all["facts"][columns[0]] = columns[1];
  for (const auto& columns : read_columns(folder / "steps.txt"))
    if (columns.size() >= 3)
      all["steps"].push_back({{"name", columns[0]},
                              {"state", columns[1]},
                              {"seconds", std::stod(columns[2])},
                              {"why", columns.size() > 3 ? columns[3] : ""}});
  const Json probe = read_json(folder / "probe.json");
  const double on_device = figure(probe, "copy_on_device"), between = figure(probe, "ipc_peer_copy");
  all["probe"] = probe.is_object() ? with_shares(probe["questions"], on_device) : Json::array();
  all["collectives"] = Json::array();
  for (const auto& [which, sizes] : read_cases(folder))
    all["collectives"].push_back(to_json(which, sizes, std::get<0>(which) == "shared" ? on_device : between));
  return all;
}

// ---- for people -------------------------------------------------------------------------------------------------

std::string number(const Json& value) {
  if (value.is_null()) return "";
  const auto plain = value.get<double>();
  return plain < 1000 ? fmt::format("{:.4g}", plain) : fmt::format("{:.0f}", plain);
}
std::string percent(const Json& value) {
  return value.is_null() ? "" : fmt::format("{:.0f} %", 100 * value.get<double>());
}
std::string to_size(std::int64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < units.size(); value /= 1024)
    ++unit;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

/// Those that passed are counted, by what their names begin with.
std::string steps_text(const Json& steps) {
  std::map<std::string, int> passed;
  std::string others;
  for (const Json& step : steps) {
    const auto name = step["name"].get<std::string>(), state = step["state"].get<std::string>();
    if (state == "passed")
      ++passed[name.substr(0, name.find('.'))];
    else
      others += fmt::format("| {} | {} | {} |\n", name, state, step["why"].get<std::string>());
  }
  std::string text = "\n## Steps\n\nPassed:";
  for (const auto& [name, count] : passed)
    text += fmt::format(" {} {},", name, count);
  text.back() = '.';
  return text + "\n\n| step | state | why |\n|---|---|---|\n" + others;
}

std::string probe_text(const Json& questions) {
  std::string text = "\n## What the devices can do\n\n| question | figure | size | value |\n|---|---|---|---|\n";
  for (const Json& question : questions) {
    if (question["state"] != "answered")
      text += fmt::format("| {} | {} | | {} |\n", question["name"].get<std::string>(),
                          question["state"].get<std::string>(), question["why"].get<std::string>());
    for (const Json& figure : question["figures"]) {
      const std::string of = figure.contains("processes") ? fmt::format(" of {}", figure["processes"].get<int>()) : "";
      std::string value = figure.contains("text") ? figure["text"].get<std::string>()
                                                  : fmt::format("{:.4g} {}", figure["value"].get<double>(),
                                                                figure["unit"].get<std::string>());
      if (figure.contains("share_of_copy")) value += ", " + percent(figure["share_of_copy"]) + " of a copy";
      text += fmt::format("| {} | {}{} | {} | {} |\n", question["name"].get<std::string>(),
                          figure["name"].get<std::string>(), of,
                          figure.contains("bytes") ? to_size(figure["bytes"]) : "", value);
    }
  }
  return text;
}

const char* words_of(const Json& place) { return place == "shared" ? "one device" : "a device each"; }

/// How many times as fast the direct way is as another, at the largest size that both have.
std::string gain_over(const char* way, const Json& one) {
  std::string gain;
  for (const Json& each : one["results"]) {
    const Json& times = each["time_us"];
    if (times.contains("direct") && times.contains(way))
      gain = fmt::format("{:.3g}", times[way].get<double>() / times["direct"].get<double>());
  }
  return gain;
}

std::string overview(const Json& collectives) {
  std::string text =
      "\n## Collectives\n\nHow much of its limit the direct way reaches, and how many times as fast it is as the "
      "others at "
      "the largest size.\n\n| collective | ranks | on | half of the limit from | largest share | staged | the MPI's | "
      "NCCL |\n|---|---|---|---|---|---|---|---|\n";
  for (const Json& one : collectives) {
    const Json& half = one["half_of_limit_from_bytes"];
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", one["collective"].get<std::string>(),
                        one["ranks"].get<int>(), words_of(one["place"]), half.is_null() ? "never" : to_size(half),
                        percent(one["largest_share"]), gain_over("staged", one), gain_over("mpi", one),
                        gain_over("nccl", one));
  }
  return text + "\nMicroseconds of a call, medians, by the size of the larger buffer of a rank:\n";
}

std::string case_text(const Json& one) {
  std::string text = fmt::format(
      "\n### {} on {} ranks, {}\n\n| size | limit | direct | share | in a stream | staged | the MPI's | NCCL |\n"
      "|---|---|---|---|---|---|---|---|\n",
      one["collective"].get<std::string>(), one["ranks"].get<int>(), words_of(one["place"]));
  for (const Json& each : one["results"]) {
    const auto time = [&](const char* way) { return number(each["time_us"].value(way, Json{})); };
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", to_size(each["bytes"]), number(each["limit_us"]),
                    time("direct"), percent(each["share"]), time("stream"), time("staged"), time("mpi"), time("nccl"));
  }
  return text;
}

std::string to_markdown(const Json& all) {
  std::string text = "# A machine with a GPU\n\n| | |\n|---|---|\n";
  for (const auto& [name, value] : all["facts"].items())
    text += fmt::format("| {} | {} |\n", name, value.get<std::string>());
  text += probe_text(all["probe"]);
  if (!all["collectives"].empty()) text += overview(all["collectives"]);
  for (const Json& one : all["collectives"])
    text += case_text(one);
  return text + steps_text(all["steps"]);
}

}  // namespace
}  // namespace tutti::gpu

int main(int argc, char** argv) {
  using namespace tutti::gpu;
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    fmt::print(stderr, "Usage: gpu_report FOLDER\n");
    return 2;
  }
  try {
    const fs::path folder{argv[1]};
    const Json all = all_of(folder);
    std::ofstream{folder / "results.json"} << all.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    std::ofstream{folder / "results.md"} << to_markdown(all);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_report: {}\n", error.what());
    return 1;
  }
}
