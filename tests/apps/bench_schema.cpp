// bench_schema JSON CSV RANKS MODE: whether the files of tutti-bench --collective all --compare mpi --check, at three
// sizes, are as documented. Reports faults and exits with 1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
  expect(times.size() == 5, where + ": min, p10, median, p90, max and nothing else");
  const double min = times.at("min"), median = times.at("median"), max = times.at("max");
  const double p10 = times.at("p10"), p90 = times.at("p90");
  expect(0 < min && min <= p10 && p10 <= median && median <= p90 && p90 <= max, where + ": times are not in order");
}

/// The times of all rounds, which are three here.
void check_rounds(const json& of, const std::string& where) {
  const auto rounds = of.at("rounds_us").get<std::vector<double>>();
  expect(rounds.size() == 3, where + ": not a time for each of 3 rounds");
  expect(!rounds.empty() && *std::min_element(rounds.begin(), rounds.end()) == of.at("time_us").at("min"),
         where + ": the least of the rounds is not the least time");
}

void check_environment(const json& environment, int ranks) {
  expect(!environment.at("mpi_version").get<std::string>().empty(), "environment: no version of the MPI");
  expect(environment.at("mpi_settings").is_array(), "environment: settings of the MPI");
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
  check_rounds(peer, where + " peer");
  const json& doubts = peer.at("doubts");
  expect(peer.at("resolved") == false && doubts.size() >= 1 && doubts[0] == "few_rounds",
         where + ": a ratio of three rounds is not resolved");
  expect(peer.at("ratio_middle_half").size() == 2, where + ": the middle half of the ratio");
}

double busbw_factor(const std::string& collective, int ranks) {
  const double all_but_own = static_cast<double>(ranks - 1) / ranks;
  if (collective == "allreduce") return 2 * all_but_own;
  for (const char* part : {"gather", "scatter", "alltoall"}) {
    if (collective.find(part) != std::string::npos) return all_but_own;
  }
  return 1;
}

void check_record(const json& record, int ranks, const std::string& mode) {
  const std::string collective = record.at("collective");
  const std::string where = fmt::format("{}, {} bytes", collective, record.at("bytes").get<std::int64_t>());
  for (const char* text : {"collective", "algorithm", "transport", "memory", "mode", "type", "op"}) {
    expect(!record.at(text).get<std::string>().empty(), fmt::format("{}: {} is empty", where, text));
  }
  expect(record.at("mode") == mode, where + ": mode");
  expect(record.at("ranks") == ranks && record.at("nodes").is_number_integer(), where + ": ranks, nodes");
  expect(record.at("auto").is_boolean() && record.at("in_place").is_boolean(), where + ": auto, in_place");
  expect(record.at("root").is_null() || record.at("root") == ranks - 1, where + ": root");
  expect(record.at("wrong") == 0, where + ": wrong elements");
  check_times(record.at("time_us"), where);
  check_rounds(record, where);
  expect(record.at("load").is_null() || record.at("load").get<double>() <= 1, where + ": load");
  expect(record.at("chosen") == true && record.at("overlap").is_null(), where + ": chosen, overlap");
  const double median = record.at("time_us").at("median"), algbw = record.at("algbw_GBps");
  expect(is_close(algbw, record.at("bytes").get<double>() / median / 1e3), where + ": algbw");
  expect(is_close(record.at("busbw_GBps"), algbw * busbw_factor(collective, ranks)), where + ": busbw");
  check_peer(record.at("peer"), median, where);
}

void check_summary(const json& summary) {
  const std::string where = "summary of " + summary.at("collective").get<std::string>();
  expect(summary.at("algorithm") == "auto", where + ": algorithm");
  expect(summary.at("wrong") == 0, where + ": wrong elements");
  const json& means = summary.at("geometric_mean_ratio");
  expect(summary.at("ratios").get<int>() > 0 && summary.at("unresolved") == summary.at("ratios"),
         where + ": ratios of three rounds are not resolved");
  expect(means.at("out_of_place").is_number() || means.at("in_place").is_number(), where + ": no geometric mean");
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
    constexpr std::size_t records = 13 * 3 * 2 + 2 * 3 + 1;
    expect(
        results.size() == records,
        fmt::format("{} results, not {}: thirteen collectives at three sizes out of place and in place, broadcast and "
                    "sendrecv in one of them, barrier once",
                    results.size(), records));
    for (const json& record : results) {
      check_record(record, ranks, argv[4]);
    }
    expect(file.at("summary").size() == 16, "not a summary for each of 16 collectives");
    for (const json& summary : file.at("summary")) {
      check_summary(summary);
    }
    check_csv(argv[2], results.size());
  } catch (const json::exception& error) {
    expect(false, error.what());
  }
  return faults == 0 ? 0 : 1;
}
