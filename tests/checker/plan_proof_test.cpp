// Compiled plans are proved, with all that shared memory adds to them: for every algorithm, on one node and on several;
// and plans with one fault are refused.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

#include "lib/plan_checker/plan_mutants.hpp"
#include "lib/plan_checker/prove_plans.hpp"

namespace tutti::checker {
namespace {

/// So small that few elements are enough for pieces, joint reductions, copies that are shared, and messages of any way.
constexpr shm::SharedMemory memory{.cell_bytes = 8, .piece_bytes = 24, .eager_messages = 3};

/// Where ranks are: all on one node, or as in the lists, over and over again.
const std::vector<std::vector<int>> placements{{}, {0, 0, 0, 1}, {0, 0, 1, 1, 1}, {2, 2, 2, 1, 0}, {0, 1}};

std::vector<int> placed(const std::vector<int>& pattern, int ranks) {
  std::vector<int> nodes;
  if (pattern.empty()) return nodes;
  std::vector<int> numbers;  // in the order in which they come
  for (int rank = 0; rank < ranks; ++rank) {
    const int node = pattern[static_cast<std::size_t>(rank) % pattern.size()] +
                     (pattern.size() > 2 ? 3 * (rank / static_cast<int>(pattern.size())) : 0);
    auto found = std::ranges::find(numbers, node);
    if (found == numbers.end()) found = numbers.insert(numbers.end(), node);
    nodes.push_back(static_cast<int>(found - numbers.begin()));
  }
  return nodes;
}

std::string text_of(const PlanCase& what) {
  return fmt::format("{} {}, {}, placed {}", to_string(what.choice.algorithm->collective), to_text(what.choice),
                     to_text(what.what), fmt::join(what.nodes, ","));
}

/// One case of an algorithm, chosen by `random` for this many ranks on these nodes.
PlanCase case_of(const Algorithm& algorithm, int ranks, const std::vector<int>& nodes, std::mt19937& random) {
  const auto one_of = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  PlanCase plan{.choice = {.algorithm = &algorithm, .parameter = algorithm.parameter.fallback}, .nodes = nodes};
  const Parameter& has = algorithm.parameter;
  if (!has.name.empty()) plan.choice.parameter = one_of(has.fallback, has.least, has.least + 1);
  plan.what.size = ranks;
  plan.what.parameter = plan.choice.parameter;
  if (algorithm.levels != Levels::ranks) plan.what.nodes = nodes;
  if (algorithm.collective == Collective::barrier) return plan;
  plan.what.count = Count{one_of(0, 1, 7, 12, 2 * ranks + 1)};
  plan.what.placement =
      one_of(Placement::separate, Placement::separate, Placement::in_place, Placement::in_place_on_even_ranks);
  if (has_root(algorithm.collective)) plan.what.root = Rank{static_cast<int>(random() % static_cast<unsigned>(ranks))};
  plan.choice.segment = one_of(0, 0, 0, 40);
  plan.what.segment = Count{plan.choice.segment / 8};
  return plan;
}

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
