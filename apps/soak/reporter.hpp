#pragma once
// The figures of a run, from the samples of each rank to what rank 0 tells.

#include <optional>

#include "apps/bench/report.hpp"
#include "apps/soak/figures.hpp"
#include "apps/soak/report.hpp"
#include "apps/soak/settings.hpp"
#include "tutti/communicator.hpp"

namespace tutti::soak {

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
  std::optional<bench::OutputFile> json_;
  const double began_ = now();
  RankFigures figures_;
  History history_;
  double reported_at_ = 0;
  std::int64_t calls_before_ = 0;  ///< Of the last report.
  apps::Json reports_ = apps::Json::array();
};

}  // namespace tutti::soak
