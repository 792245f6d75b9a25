// Every algorithm, with one small fault at a time: the proof has to fail, or the fault has to be none.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "lib/checker/mutants.hpp"

namespace tutti::checker {
namespace {

struct Tally {
  int made = 0, caught = 0, equivalent = 0;
};
using Tallies = std::map<Mutation, Tally>;

Parts with(const Mutant& mutant, Parts parts) {
  auto& steps = parts[static_cast<std::size_t>(mutant.rank.value())].schedule.steps;
  steps[static_cast<std::size_t>(mutant.step)] = mutant.mutated;
  return parts;
}

void examine(const Mutant& mutant, const Algorithm& algorithm, const Parts& original, const Expectation& expectation,
             Tally& tally) {
  const Parts mutated = with(mutant, original);
  ++tally.made;
  if (!prove(mutated, expectation).proved()) {
    ++tally.caught;
  } else if (const auto reason = equivalence(mutant, original, mutated, algorithm.order)) {
    ++tally.equivalent;
    fmt::print("equivalent: {} p={}: {}; {}\n", algorithm.name, mutated.size(), mutant.text, *reason);
  } else {
    ADD_FAILURE() << fmt::format("{} p={}: {}: proved, though nothing shows it to be equivalent", algorithm.name,
                                 mutated.size(), mutant.text);
  }
}

class Mutants : public testing::TestWithParam<const Algorithm*> {};

TEST_P(Mutants, AreCaughtOrEquivalent) {
  const Algorithm& algorithm = *GetParam();
  std::map<int, Tallies> tallies;
  for (const int size : {5, 8}) {
    for (const Mutation mutation : {Mutation::edge_deleted, Mutation::region_shifted, Mutation::operands_swapped})
      tallies[size][mutation] = {};  // a row of the table even if nothing is made
    for (const Placement placement : {Placement::separate, Placement::in_place}) {
      const Problems problems{algorithm, {.size = size, .count = Count{2 * size + 3}, .placement = placement}};
      const Parts parts = parts_of(algorithm, problems);
      const Expectation expectation = expectation_of(algorithm, problems);
      ASSERT_TRUE(prove(parts, expectation).proved());
      for (const Mutant& mutant : mutants_of(parts))
        examine(mutant, algorithm, parts, expectation, tallies[size][mutant.mutation]);
    }
  }
  for (const auto& [size, of_size] : tallies) {
    for (const auto& [mutation, tally] : of_size) {
      fmt::print("mutants: {:<20} p={} {:<17} made {:>5}  caught {:>5}  equivalent {:>5}\n", algorithm.name, size,
                 to_string(mutation), tally.made, tally.caught, tally.equivalent);
    }
  }
}

/// The mutants of an algorithm that are proved wrong are none that could pass as equivalent.
TEST_P(Mutants, CaughtOnesAreNotEquivalent) {
  const Algorithm& algorithm = *GetParam();
  constexpr int size = 5;
  const Problems problems{algorithm, {.size = size, .count = Count{2 * size + 3}}};
  const Parts parts = parts_of(algorithm, problems);
  const Expectation expectation = expectation_of(algorithm, problems);
  int caught = 0;
  for (const Mutant& mutant : mutants_of(parts)) {
    const Parts mutated = with(mutant, parts);
    if (prove(mutated, expectation).proved()) continue;
    ++caught;
    EXPECT_EQ(equivalence(mutant, parts, mutated, algorithm.order), std::nullopt) << mutant.text;
  }
  EXPECT_GT(caught, 0);
}

INSTANTIATE_TEST_SUITE_P(Registry, Mutants, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& algorithm) {
                           return fmt::format("{}_{}", to_string(algorithm.param->collective), algorithm.param->name);
                         });

}  // namespace
}  // namespace tutti::checker
