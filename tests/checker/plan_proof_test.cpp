// Compiled plans are proved, with all that shared memory adds to them: for every algorithm, on one node and on several;
// and plans with one fault are refused.
#include <gtest/gtest.h>

#include <set>

#include "lib/proof/plan_checker/plan_mutants.hpp"
#include "lib/proof/plan_checker/prove_plans.hpp"
#include "tests/checker/plan_cases.hpp"

namespace tutti::checker {
namespace {

TEST(PlanProof, OfEveryAlgorithm) {
  PlanCounts counts;
  constexpr int most_ranks = 16, in_full = 6;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{1};
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
      for (const std::vector<int>& pattern : placements)
        for (int again = 0; again < (ranks <= in_full ? 8 : 2); ++again) {
          const PlanCase what = case_of(*algorithm, ranks, placed(pattern, ranks), random);
          const PlanVerdict verdict = prove(Plans{what, memory});
          ASSERT_TRUE(verdict.proved()) << text_of(what) << ": " << verdict.fault;
          counts += verdict.counts;
        }
  }
  fmt::print("{} plans of {} steps proved: {} joined, {} forwarded, {} shared, {} lent, {} answered, {} delivered\n",
             counts.plans, counts.steps, counts.joined, counts.forwarded, counts.shared, counts.lent, counts.answered,
             counts.delivered);
  for (const int seen :
       {counts.joined, counts.forwarded, counts.shared, counts.lent, counts.answered, counts.delivered})
    EXPECT_GT(seen, 500) << "there is nothing to prove";
}

TEST(PlanProof, RefutesMutants) {
  std::array<int, plan_mutation_count> made{};
  constexpr int most_ranks = 6;
  for (const Algorithm* algorithm : algorithms()) {
    if (!reduces(algorithm->collective) && algorithm->collective != Collective::allgather) continue;
    std::mt19937 random{2};
    for (int ranks = 2; ranks <= most_ranks; ++ranks)
      for (std::size_t again = 0; again < 4 * placements.size(); ++again) {
        const std::vector<int>& pattern = placements[again % placements.size()];
        const PlanCase what = case_of(*algorithm, ranks, placed(pattern, ranks), random);
        Plans plans{what, memory};
        for (const Rank rank : std::set{Rank{0}, Rank{ranks / 2}, Rank{ranks - 1}}) {
          const shm::SharedPlan original = plans.of(rank);
          for (PlanMutant& mutant : mutants_of(original, answers_to(rank, plans))) {
            plans.of(rank) = std::move(mutant.plan);
            ++made[static_cast<std::size_t>(mutant.mutation)];
            EXPECT_FALSE(prove(plans).proved()) << text_of(what) << ": " << to_string(mutant.mutation) << ", rank "
                                                << rank.value() << ", " << mutant.text << " was proved";
          }
          plans.of(rank) = original;
        }
      }
  }
  for (int mutation = 0; mutation < plan_mutation_count; ++mutation) {
    const auto which = static_cast<PlanMutation>(mutation);
    fmt::print("{}: {} mutants refuted\n", to_string(which), made[static_cast<std::size_t>(mutation)]);
    EXPECT_GT(made[static_cast<std::size_t>(mutation)], 0) << to_string(which);
  }
}

}  // namespace
}  // namespace tutti::checker
