#pragma once
// The figures for people and as JSON, from the samples of each rank to what rank 0 tells.

#include <optional>
#include <string>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/bench/records.hpp"
#include "apps/files.hpp"
#include "apps/json.hpp"
#include "apps/soak/figures.hpp"
#include "apps/soak/settings.hpp"

namespace tutti::soak {

/// The facts of a run that the lines of figures do not repeat.
struct RunFacts {
  bench::Machine machine;
  std::uint64_t seed = 0;
  int threads = 1;
  std::int64_t most_bytes = 0;
  std::string transport, memories;
};

/// The figures at a moment.
struct Moment {
  double seconds = 0;             ///< Since the start.
  double of_interval = 0;         ///< Seconds since the moment before,
  std::int64_t calls_before = 0;  ///< and the calls until then.
  std::vector<RankFigures> ranks;
};

/// Lines that start with '#': the facts, and the titles of the lines of figures.
[[nodiscard]] std::string preface(const RunFacts& facts);
/// A line; with `by_node` one more for each node.
[[nodiscard]] std::string line_of(const Moment& moment, bool by_node);

/// The tables at the end, a line for each growth without bound, and the verdict: "24310 calls, 0 wrong, memory +12 KiB,
/// descriptors +0".
[[nodiscard]] std::string conclusion(const Moment& end);
/// Whether the run shows no fault.
[[nodiscard]] bool is_well(const std::vector<RankFigures>& ranks);

[[nodiscard]] std::int64_t calls_of(const RankFigures& figures);

/// {"environment": {...}, "seed": ..., "seconds": ..., "calls": ..., "wrong": ..., "well": ..., "collectives": [...],
/// "messages": {...}, "resources": [...], "reports": [...]}.
[[nodiscard]] apps::Json to_json(const RunFacts& facts, const Moment& end, const apps::Json& reports);
/// An entry of "reports".
[[nodiscard]] apps::Json to_json(const Moment& moment);

/// Seconds since a moment that does not matter.
[[nodiscard]] double now();

/// All functions but sample() and is_due() are collective over MPI_COMM_WORLD, and called between rounds, when the
/// threads are at rest.
class Reporter {
 public:
  /// `world`: of all ranks; it must outlive this object, as the settings must. Prints the facts. Throws
  /// apps::InputError on all ranks alike if the file of --json cannot be written.
  Reporter(RunFacts facts, const Settings& settings, const Communicator& world);

  /// The work of this rank so far, to be kept up to date.
  [[nodiscard]] RankFigures& figures() { return figures_; }
  /// Looks at the resources of this process, unless it has just done so.
  void sample();
  [[nodiscard]] double seconds() const { return now() - began_; }
  /// Whether it is time for the next line.
  [[nodiscard]] bool is_due() const { return seconds() - reported_at_ >= settings_.report; }
  void report();
  /// The end. Returns whether all is well, on rank 0; true on the others.
  [[nodiscard]] bool conclude();

 private:
  [[nodiscard]] bool is_first() const { return world_.rank() == Rank{0}; }
  [[nodiscard]] Moment moment();

  RunFacts facts_;
  const Settings& settings_;
  const Communicator& world_;
  std::optional<apps::OutputFile> json_;
  const double began_ = now();
  RankFigures figures_;
  History history_;
  double reported_at_ = 0;
  std::int64_t calls_before_ = 0;  ///< The number in the last report.
  apps::Json reports_ = apps::Json::array();
};

}  // namespace tutti::soak
