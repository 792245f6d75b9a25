// Every algorithm, with one small fault at a time: the proof has to fail, or the fault has to be none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "lib/proof/checker/mutants.hpp"
#include "lib/proof/checker/suite.hpp"

namespace tutti::checker {
namespace {

constexpr std::size_t most_mutants = 1500;  // of each algorithm and size; of more, every so-manieth

struct Tally {
  int made = 0, caught = 0;
  std::map<std::string, int> equivalent{};  ///< By reason.
};
using Tallies = std::map<Mutation, Tally>;

std::string name_of(const Algorithm& algorithm) {
  return fmt::format("{}_{}", to_string(algorithm.collective), algorithm.name);
}

RankSchedules with(const Mutant& mutant, RankSchedules schedules) {
  auto& steps = schedules[static_cast<std::size_t>(mutant.rank.value())].schedule.steps;
  steps[static_cast<std::size_t>(mutant.step)] = mutant.mutated;
  return schedules;
}

/// A problem with everything that its collective has.
Case case_of(const Algorithm& algorithm, int size, Placement placement) {
  Case what{.size = size, .count = Count{2 * size + 3}, .placement = placement};
  if (algorithm.collective == Collective::alltoall) what.count = Count{3};
  if (algorithm.collective == Collective::barrier) what.count = Count{0};
  if (has_root(algorithm.collective)) what.root = Rank{size / 2};
  mix_levels(what, algorithm);
  return what;
}

/// A case with blocks of differing sizes, where the collective has blocks; the algorithm has learned the sizes.
std::optional<Case> uneven_case_of(const Algorithm& algorithm, int size, Placement placement) {
  Case what = case_of(algorithm, size, placement);
  const Problem problem{what.root, size, Count{1}, {}, algorithm.collective, what.root};
  const auto [input, output] = shape_of(problem);
  if (std::max(input, output) == Count{1} || algorithm.collective == Collective::barrier) return std::nullopt;
  const int rows = algorithm.collective == Collective::alltoall ? size : 1;
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < size; ++column)
      what.counts.push_back(Count{(row + column) % 4});  // symmetric, as in place it has to be
  what.count = Count{0};
  what.gap = Count{2};
  return what;
}

std::vector<Mutant> sample(std::vector<Mutant> mutants) {
  const std::size_t stride = mutants.size() / most_mutants + 1;
  std::vector<Mutant> some;
  for (std::size_t i = 0; i < mutants.size(); i += stride)
    some.push_back(std::move(mutants[i]));
  return some;
}

class Mutants : public testing::TestWithParam<const Algorithm*> {
 protected:
  void examine_all(const Algorithm& algorithm, const Case& what) {
    const Problems problems{algorithm, what};
    const RankSchedules schedules = schedules_of(algorithm, problems);
    const Expectation expectation = expectation_of(algorithm, problems);
    const Verdict verdict = prove(schedules, expectation);
    ASSERT_TRUE(verdict.proved()) << verdict.fault;
    for (const Mutant& mutant : sample(mutants_of(schedules)))
      examine(mutant, schedules, expectation);
  }
  void examine(const Mutant& mutant, const RankSchedules& original, const Expectation& expectation) {
    const RankSchedules mutated = with(mutant, original);
    Tally& tally = tallies_[mutated.size()][mutant.mutation];
    ++tally.made;
    if (!prove(mutated, expectation).proved())
      ++tally.caught;
    else if (const auto reason = equivalence(mutant, original, mutated, expectation))
      ++tally.equivalent[*reason];
    else
      ADD_FAILURE() << fmt::format("p={}: {}: proved, though nothing shows it to be equivalent", mutated.size(),
                                   mutant.text);
  }
  void report(const Algorithm& algorithm) const {
    for (const auto& [size, of_size] : tallies_) {
      for (const auto& [mutation, tally] : of_size) {
        fmt::print("mutants: {:<32} p={} {:<17} made {:>5}  caught {:>5}\n", name_of(algorithm), size,
                   to_string(mutation), tally.made, tally.caught);
        for (const auto& [reason, count] : tally.equivalent)
          fmt::print("  equivalent {:>5}: {}\n", count, reason);
      }
    }
  }

 private:
  std::map<std::size_t, Tallies> tallies_;  ///< By number of ranks.
};

TEST_P(Mutants, AreCaughtOrEquivalent) {
  const Algorithm& algorithm = *GetParam();
  for (const int size : {5, 8}) {
    for (const Placement placement : {Placement::separate, Placement::in_place}) {
      examine_all(algorithm, case_of(algorithm, size, placement));
      if (const auto uneven = uneven_case_of(algorithm, size, placement)) examine_all(algorithm, *uneven);
    }
  }
  report(algorithm);
}

/// The mutants of an algorithm that are proved wrong are none that could pass as equivalent.
TEST_P(Mutants, CaughtOnesAreNotEquivalent) {
  const Algorithm& algorithm = *GetParam();
  constexpr int size = 5;
  for (const Placement placement : {Placement::separate, Placement::in_place}) {
    const Problems problems{algorithm, case_of(algorithm, size, placement)};
    const RankSchedules schedules = schedules_of(algorithm, problems);
    const Expectation expectation = expectation_of(algorithm, problems);
    int caught = 0;
    for (const Mutant& mutant : sample(mutants_of(schedules))) {
      const RankSchedules mutated = with(mutant, schedules);
      if (prove(mutated, expectation).proved()) continue;
      ++caught;
      EXPECT_EQ(equivalence(mutant, schedules, mutated, expectation), std::nullopt) << mutant.text;
    }
    EXPECT_TRUE(caught > 0 || mutants_of(schedules).empty() || algorithm.collective == Collective::barrier);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Mutants, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& algorithm) { return name_of(*algorithm.param); });

}  // namespace
}  // namespace tutti::checker
