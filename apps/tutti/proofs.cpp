#include "apps/tutti/proofs.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "lib/proof/checker/mutants.hpp"

namespace tutti::tool {
namespace {

using checker::Case;
using checker::Placement;

constexpr std::size_t most_faults = 5;

void add_fault(Tally& tally, std::string fault) {
  ++tally.faulty;
  if (tally.faults.size() < most_faults) tally.faults.push_back(std::move(fault));
}

void prove_case(const Algorithm& algorithm, const Case& what, Tally& tally) {
  const checker::Verdict verdict = checker::prove(algorithm, what);
  ++tally.problems;
  tally.schedules += verdict.costs.size();
  tally.steps += verdict.steps;
  if (!verdict.proved()) add_fault(tally, fmt::format("{}: {}", to_text(what), verdict.fault));
}

/// Changes one step at a time: the proof has to fail, or the change has to be none that matters.
void refute_mutants(const Algorithm& algorithm, const Case& what, Tally& tally) {
  const checker::Problems problems{algorithm, what};
  const checker::RankSchedules original = schedules_of(algorithm, problems, what);
  const checker::Expectation expectation = expectation_of(algorithm, problems);
  checker::RankSchedules mutated = original;
  for (const checker::Mutant& mutant : checker::mutants_of(original)) {
    Step& step =
        mutated[static_cast<std::size_t>(mutant.rank.value())].schedule.steps[static_cast<std::size_t>(mutant.step)];
    Step kept = std::exchange(step, mutant.mutated);
    ++tally.mutants;
    if (!prove(mutated, expectation).proved())
      ++tally.caught;
    else if (equivalence(mutant, original, mutated, expectation))
      ++tally.equivalent;
    else
      add_fault(tally, fmt::format("{}: mutant not caught: {}", to_text(what), mutant.text));
    step = std::move(kept);
  }
}

std::vector<Case> cases_of_mutants(const Algorithm& algorithm, checker::Extent extent) {
  constexpr int small = 5, large = 8;
  const auto what = [&](int size, Placement placement) {
    Case what{.size = size, .count = Count{2 * size + 3}, .placement = placement};
    if (algorithm.collective == Collective::alltoall) what.count = Count{3};
    if (algorithm.collective == Collective::barrier) what.count = Count{0};
    if (has_root(algorithm.collective)) what.root = Rank{size / 2};
    checker::mix_levels(what, algorithm);
    return what;
  };
  if (extent == checker::Extent::subset) return {what(small, Placement::separate)};
  std::vector<Case> cases;
  for (const int size : {small, large})
    for (const Placement placement : {Placement::separate, Placement::in_place})
      cases.push_back(what(size, placement));
  return cases;
}

/// One piece of work of a thread.
struct Job {
  std::size_t algorithm;
  Case what;
  void (*run)(const Algorithm& algorithm, const Case& what, Tally& tally);
};

/// The jobs of a campaign and the threads that do them.
class Work {
 public:
  explicit Work(const Campaign& campaign) : campaign_(campaign) {
    for (const Algorithm* algorithm : campaign.algorithms) {
      const std::size_t place = tallies_.size(), before = jobs_.size();
      for (const Case& what : cases_of_mutants(*algorithm, campaign.extent))
        jobs_.push_back({place, what, refute_mutants});
      for (const Case& what : checker::cases_of(*algorithm, campaign.extent))
        jobs_.push_back({place, what, prove_case});
      tallies_.push_back({.algorithm = algorithm});
      open_.push_back(jobs_.size() - before);
    }
  }

  /// Works until nothing is left.
  void help() {
    for (std::size_t job = next_++; job < jobs_.size(); job = next_++)
      add(jobs_[job].algorithm, tally_of(jobs_[job]));
  }

 private:
  [[nodiscard]] Tally tally_of(const Job& job) const {
    Tally tally{.algorithm = campaign_.algorithms[job.algorithm]};
    const auto begin = std::chrono::steady_clock::now();
    try {
      job.run(*tally.algorithm, job.what, tally);
    } catch (const std::exception& error) {
      add_fault(tally, fmt::format("{}: {}", to_text(job.what), error.what()));
    }
    tally.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return tally;
  }

  void add(std::size_t algorithm, const Tally& part) {
    const std::lock_guard lock{mutex_};
    Tally& all = tallies_[algorithm];
    all.problems += part.problems, all.schedules += part.schedules, all.steps += part.steps;
    all.mutants += part.mutants, all.caught += part.caught, all.equivalent += part.equivalent;
    all.seconds += part.seconds;
    const std::size_t listed = all.faulty;
    for (const std::string& fault : part.faults)
      add_fault(all, fault);
    all.faulty = listed + part.faulty;
    --open_[algorithm];
    ++finished_;
    for (; reported_ < tallies_.size() && open_[reported_] == 0; ++reported_)
      campaign_.done(tallies_[reported_]);
    constexpr std::size_t now_and_then = 64;
    if (campaign_.progress && finished_ % now_and_then == 0)
      campaign_.progress(*part.algorithm, finished_, jobs_.size());
  }

  const Campaign& campaign_;
  std::vector<Job> jobs_;
  std::vector<Tally> tallies_;
  std::vector<std::size_t> open_;  ///< Jobs of each algorithm that are not done.
  std::size_t reported_ = 0, finished_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
};

}  // namespace

void prove_all(const Campaign& campaign) {
  Work work{campaign};
  std::vector<std::jthread> helpers;
  for (int thread = 1; thread < campaign.threads; ++thread)
    helpers.emplace_back([&work] { work.help(); });
  work.help();
}

}  // namespace tutti::tool
