#include "apps/soak/reporter.hpp"

#include <mpi.h>

#include <chrono>
#include <string>
#include <utility>

#include "apps/standard_output.hpp"
#include "lib/transport/mpi/check.hpp"

namespace tutti::soak {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Reporter::Reporter(RunFacts facts, const Settings& settings, const Communicator& world)
    : facts_(std::move(facts)), settings_(settings), world_(world) {
  std::string problem;
  try {
    if (is_first() && !settings.json.empty()) json_.emplace("json", settings.json);
  } catch (const apps::InputError& error) {
    problem = error.what();
  }
  int has_problem = problem.empty() ? 0 : 1;
  mpi::check(MPI_Bcast(&has_problem, 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Bcast");
  if (has_problem != 0) throw apps::InputError(problem);
  figures_.node = world.node_of(world.rank());
  if (is_first()) apps::print(preface(facts_));
}

void Reporter::sample() {
  if (history_.is_due(seconds())) history_.add(seconds(), read_resources(world_.node().me == 0));
}

Moment Reporter::moment() {
  figures_.add(history_);
  if (settings_.calls) figures_.samples = 0;  // Growth is told of runs by time alone.
  return {.seconds = seconds(),
          .of_interval = seconds() - reported_at_,
          .calls_before = calls_before_,
          .ranks = gathered(figures_)};
}

void Reporter::report() {
  const Moment at = moment();
  reported_at_ = at.seconds;
  if (!is_first()) return;
  calls_before_ = calls_of(sum_of(at.ranks));
  apps::print(line_of(at, settings_.by_node));
  apps::flush_output();
  if (json_) reports_.push_back(to_json(at));
}

bool Reporter::conclude() {
  const Moment end = moment();
  if (!is_first()) return true;
  apps::print(line_of(end, settings_.by_node));
  apps::print(conclusion(end));
  if (json_) json_->commit(bench::to_text(to_json(facts_, end, reports_)));
  return is_well(end.ranks);
}

}  // namespace tutti::soak
