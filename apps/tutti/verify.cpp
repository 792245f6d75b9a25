// tutti verify: proves algorithms.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/proofs.hpp"
#include "apps/tutti/scene.hpp"

namespace tutti::tool {
namespace {

constexpr int most_threads = 1024;

struct Settings {
  std::string collective, algorithm;
  std::vector<std::string> files;
  int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, unsigned{most_threads}));
  bool all = false, quick = false;
};

apps::Options options_for(Settings& settings) {
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti verify",
      "Proves algorithms for many sizes, counts, placements, roots, parameters and lists of blocks: no deadlock, no\n"
      "race, every message received, the right result in every element, and the cost as stated. Then changes the\n"
      "schedules, one small fault (mutant) at a time, which the proof has to catch unless the change does not matter.\n"
      "Exit code 1 if anything fails. Times are those of all threads together."};
  options.argument("COLLECTIVE", Takes::one_or_none, [&](std::string_view given) { settings.collective = given; })
      .argument("ALGORITHM", Takes::one_or_none, [&](std::string_view given) { settings.algorithm = given; })
      .custom("file", "FILE,...", "", "the schedules of these files, for several counts; -: standard input",
              [&](std::string_view given) { settings.files = apps::split_list(given); })
      .flag("all", settings.all, "every algorithm")
      .flag("quick", settings.quick, "a subset that takes about a second per algorithm")
      .integer("jobs,j", settings.threads, 1, most_threads, "threads");
  return options;
}

std::vector<const Algorithm*> wanted(const Settings& settings) {
  if (settings.all != settings.collective.empty())
    throw apps::InputError("name a collective, or a collective and an algorithm, or --all, or --file FILE");
  if (settings.all) return {algorithms().begin(), algorithms().end()};
  const Collective collective = read_collective(settings.collective);
  if (settings.algorithm.empty()) return algorithms_of(collective);
  const Choice choice = read_algorithm(collective, settings.algorithm);
  if (settings.algorithm != choice.algorithm->name)
    throw apps::InputError(fmt::format("ALGORITHM: only a name, {}: its parameters are all proved",  //
                                       choice.algorithm->name));
  return {choice.algorithm};
}

/// A line on a terminal that is written over.
class ProgressLine {
 public:
  void show(const Algorithm& algorithm, std::size_t finished, std::size_t all) const {
    if (is_wanted())
      apps::print_error("\r\x1b[K{}/{}  {} {}", finished, all, to_string(algorithm.collective), algorithm.name);
  }
  void clear() const {
    if (is_wanted()) apps::print_error("\r\x1b[K");
  }

 private:
  [[nodiscard]] bool is_wanted() const { return is_terminal_; }
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
};

void print_header() {
  apps::print("{:<14} {:<22} {:>8} {:>9} {:>11} {:>7} {:>7} {:>10} {:>8}\n", "collective", "algorithm", "problems",
              "schedules", "steps", "mutants", "caught", "equivalent", "time");
}

void print(const Tally& tally) {
  apps::print("{:<14} {:<22} {:>8} {:>9} {:>11} {:>7} {:>7} {:>10} {:>6.1f} s\n",
              to_string(tally.algorithm->collective), tally.algorithm->name, tally.problems, tally.schedules,
              tally.steps, tally.mutants, tally.caught, tally.equivalent, tally.seconds);
  for (const std::string& fault : tally.faults)
    apps::print("  FAILED: {}\n", fault);
  if (tally.faulty > tally.faults.size()) apps::print("  and {} more failed\n", tally.faulty - tally.faults.size());
  apps::flush_output();
}

/// Proves the schedules of a file, a chunk an element and for counts that the chunks divide and that they do not.
/// Whether they are proved.
bool verify_file(const std::string& path) {
  const ScheduleFile file = read_schedules(path);
  const std::int64_t chunks = file.chunks;
  std::vector<std::int64_t> counts{chunks, 2 * chunks, chunks + 1, 2 * chunks - 1, 1, 0};
  if (file.collective == Collective::barrier) counts = {0};
  std::string cost;
  for (const std::int64_t count : counts) {
    const FiledScene filed{file, Count{count}, false, Unproved::shown};
    const Scene& scene = filed.scene();
    if (!scene.verdict.proved()) {
      apps::print("{}: FAILED: {} elements: {}\n", file.path, scene.what.count.value(), scene.verdict.fault);
      return false;
    }
    if (cost.empty()) cost = fmt::format("{} steps; {}", scene.verdict.steps, scene.cost_text());
  }
  apps::print("{}: proved: {}, {} ranks, {} chunks, {}; counts {}\n", file.path, to_string(file.collective), file.ranks,
              chunks, cost, fmt::join(counts, ", "));
  return true;
}

int verify_files(const Settings& settings) {
  if (settings.all || !settings.collective.empty())
    throw apps::InputError("--file: not with COLLECTIVE or --all, which are about registered algorithms");
  std::size_t failed = 0;
  for (const std::string& path : settings.files)
    failed += verify_file(path) ? 0 : 1;
  return failed == 0 ? apps::exit_success : apps::exit_failure;
}

}  // namespace

int verify(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  if (!settings.files.empty()) return verify_files(settings);
  const ProgressLine line;
  Tally total;
  const auto done = [&](const Tally& tally) {
    line.clear();
    print(tally);
    total.problems += tally.problems, total.schedules += tally.schedules, total.steps += tally.steps;
    total.mutants += tally.mutants, total.caught += tally.caught, total.equivalent += tally.equivalent;
    total.faulty += tally.faulty;
  };
  const Campaign campaign{.algorithms = wanted(settings),
                          .extent = settings.quick ? checker::Extent::subset : checker::Extent::all,
                          .threads = settings.threads,
                          .done = done,
                          .progress = [&](const Algorithm& algorithm, std::size_t finished, std::size_t all) {
                            line.show(algorithm, finished, all);
                          }};
  print_header();
  const auto begin = std::chrono::steady_clock::now();
  prove_all(campaign);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  apps::print(
      "{} algorithms, {} problems, {} schedules, {} steps; {} mutants, {} caught, {} equivalent; {} failed; "
      "{:.1f} s on {} threads\n",
      campaign.algorithms.size(), total.problems, total.schedules, total.steps, total.mutants, total.caught,
      total.equivalent, total.faulty, seconds.count(), settings.threads);
  return total.faulty == 0 ? apps::exit_success : apps::exit_failure;
}

}  // namespace tutti::tool
