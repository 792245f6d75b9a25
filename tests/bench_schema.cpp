// bench_schema JSON CSV RANKS MODE: whether the files of tutti-bench --compare mpi --check are what is documented.
// Says what is wrong and exits with 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using nlohmann::json;

int faults = 0;

void expect(bool holds, const std::string& what) {
  if (holds) return;
  fmt::print(stderr, "{}\n", what);
  ++faults;
}

bool is_close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

void check_times(const json& times, const std::string& where) {
  expect(times.size() == 3, where + ": min, median, max and nothing else");
  const double min = times.at("min"), median = times.at("median"), max = times.at("max");
  expect(0 < min && min <= median && median <= max, where + ": times are not in order");
}

void check_environment(const json& environment, int ranks) {
  expect(environment.at("versions").at("Tutti").is_string(), "environment: no version of Tutti");
  expect(!environment.at("mpi").get<std::string>().empty(), "environment: no MPI");
  expect(!environment.at("host").get<std::string>().empty(), "environment: no host");
  expect(environment.at("ranks") == ranks, "environment: ranks");
  expect(environment.at("hosts").size() == environment.at("nodes"), "environment: not a host for each node");
  expect(environment.at("cores").get<int>() > 0, "environment: cores");
  expect(environment.at("binding").size() == static_cast<std::size_t>(ranks), "environment: binding of each rank");
}

void check_peer(const json& peer, double median, const std::string& where) {
  expect(!peer.at("name").get<std::string>().empty(), where + ": peer has no name");
  check_times(peer.at("time_us"), where + " peer");
  const double theirs = peer.at("time_us").at("median");
  expect(is_close(peer.at("ratio"), theirs / median), where + ": ratio is not the peer's median over ours");
}

void check_record(const json& record, int ranks, const std::string& mode) {
  const std::string where = fmt::format("{} bytes", record.at("bytes").get<std::int64_t>());
  for (const char* text : {"collective", "algorithm", "transport", "memory", "mode", "type", "op"}) {
    expect(!record.at(text).get<std::string>().empty(), fmt::format("{}: {} is empty", where, text));
  }
  expect(record.at("mode") == mode, where + ": mode");
  expect(record.at("ranks") == ranks && record.at("nodes").is_number_integer(), where + ": ranks, nodes");
  expect(record.at("in_place").is_boolean(), where + ": in_place");
  expect(record.at("wrong") == 0, where + ": wrong elements");
  check_times(record.at("time_us"), where);
  const double median = record.at("time_us").at("median"), algbw = record.at("algbw_GBps");
  expect(is_close(algbw, record.at("bytes").get<double>() / median / 1e3), where + ": algbw");
  expect(is_close(record.at("busbw_GBps"), algbw * 2 * (ranks - 1) / ranks), where + ": busbw");
  check_peer(record.at("peer"), median, where);
}

void check_csv(const char* path, std::size_t records) {
  std::ifstream file{path};
  std::size_t lines = 0;
  std::ptrdiff_t commas = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto found = std::count(line.begin(), line.end(), ',');
    if (lines == 0) commas = found;
    expect(commas > 0 && found == commas, fmt::format("CSV line {}: {} commas, not {}", lines + 1, found, commas));
  }
  expect(lines == records + 1, fmt::format("CSV: {} lines for {} records and a header", lines, records));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const int ranks = std::atoi(argv[3]);
  try {
    const json file = json::parse(std::ifstream{argv[1]});
    check_environment(file.at("environment"), ranks);
    const json& results = file.at("results");
    expect(results.size() == 10,
           fmt::format("{} results, not 10: five sizes, out of place and in place", results.size()));
    for (const json& record : results) {
      check_record(record, ranks, argv[4]);
    }
    for (const char* placement : {"out_of_place", "in_place"}) {
      expect(file.at("geometric_mean_ratio").at(placement).is_number(), "no geometric mean");
    }
    check_csv(argv[2], results.size());
  } catch (const json::exception& error) {
    expect(false, error.what());
  }
  return faults == 0 ? 0 : 1;
}
