// Plans on device buffers whose peers map each other's memory: proved for every algorithm with the additions of the
// device, and refuted with one fault.
#include <gtest/gtest.h>

#include <array>

#include "lib/proof/checker/graph.hpp"
#include "lib/proof/plan_checker/prove_plans.hpp"
#include "lib/proof/plan_checker/shared_accesses.hpp"
#include "tests/checker/plan_cases.hpp"

namespace tutti::checker {
namespace {

using device::BufferDevices;

/// Most ranks have all on one device; some the output alone, or nothing.
PlanCase direct_case_of(const Algorithm& algorithm, int ranks, const std::vector<int>& pattern, std::mt19937& random) {
  constexpr std::array places{BufferDevices{0, 0}, BufferDevices{0, 0},  BufferDevices{0, 0},
                              BufferDevices{0, 0}, BufferDevices{-1, 0}, BufferDevices{}};
  PlanCase what = case_of(algorithm, ranks, placed(pattern, ranks), random);
  const bool all = random() % 2 == 0;
  for (int rank = 0; rank < ranks; ++rank)
    what.devices.push_back({.places = all ? places[0] : places[random() % places.size()], .ways = {.ipc = true}});
  if (what.what.placement != Placement::separate)
    for (DeviceUse& use : what.devices)
      use.places.input = use.places.output;
  return what;
}

TEST(DirectPlans, AreProved) {
  PlanCounts counts;
  constexpr int most_ranks = 9;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{1};
    for (int ranks = 2; ranks <= most_ranks; ++ranks)
      for (const std::vector<int>& pattern : placements)
        for (int again = 0; again < (ranks <= 4 ? 8 : 2); ++again) {
          const PlanCase what = direct_case_of(*algorithm, ranks, pattern, random);
          const PlanVerdict verdict = prove(Plans{what, memory});
          ASSERT_TRUE(verdict.proved()) << text_of(what) << ": " << verdict.fault;
          counts += verdict.counts;
        }
  }
  fmt::print("{} plans of {} steps proved: {} joined, {} answered, {} delivered\n", counts.plans, counts.steps,
             counts.joined, counts.answered, counts.delivered);
  EXPECT_GT(counts.joined, 5'000);
  EXPECT_GT(counts.delivered, 1'000) << "there is nothing to prove";
}

/// One rank's plan with one fault each.
struct Mutant {
  shm::SharedPlan plan;
  const char* fault;
};

/// Faults of plans whose answers are `delivered`, by step: each of them has to come out.
std::vector<Mutant> mutants_of_direct(const shm::SharedPlan& plan, const std::vector<bool>& delivered) {
  std::vector<Mutant> mutants;
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    const auto mutant = [&](const char* fault, const auto& change) {
      mutants.push_back({plan, fault});
      change(mutants.back().plan.side(i));
    };
    if (delivered[static_cast<std::size_t>(i)]) {
      mutant("an answer is written an element further on",
             [&](shm::SideStep& side) { side.answer_at += plan.element; });
      mutant("an answer is written to the input's place", [](shm::SideStep& side) {
        side.answer_into = side.answer_into == Buffer::scratch ? Buffer::output : Buffer::scratch;
      });
    }
  }
  for (std::size_t joint = 0; joint < plan.joints.size(); ++joint) {
    mutants.push_back({plan, "a joint reduction without its last operand"});
    mutants.back().plan.joints[joint].operands.pop_back();
    mutants.push_back({plan, "a joint reduction of operands in another order"});
    auto& operands = mutants.back().plan.joints[joint].operands;
    std::swap(operands.front(), operands.back());
  }
  return mutants;
}

TEST(DirectPlans, WithAFaultAreRefused) {
  int made = 0;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{2};
    for (int ranks = 2; ranks <= 5; ++ranks) {
      PlanCase what = direct_case_of(*algorithm, ranks, placements[0], random);
      for (DeviceUse& use : what.devices)
        use.places = {0, 0};
      const Plans plans{what, memory};
      const Graph graph{schedules_of(plans)};
      const std::vector<Answer> answers = answers_of(plans, graph);
      const std::vector<int> first = first_steps_of(plans);
      for (Rank rank; rank.value() < ranks; rank = Rank{rank.value() + 1}) {
        std::vector<bool> delivered(plans.of(rank).steps.size());
        for (std::size_t i = 0; i < delivered.size(); ++i)
          delivered[i] =
              answers[static_cast<std::size_t>(first[static_cast<std::size_t>(rank.value())]) + i].offer >= 0;
        for (Mutant& mutant : mutants_of_direct(plans.of(rank), delivered)) {
          Plans changed = plans;
          changed.of(rank) = std::move(mutant.plan);
          ++made;
          EXPECT_FALSE(prove(changed).proved()) << text_of(what) << ", rank " << rank.value() << ": " << mutant.fault;
        }
      }
    }
  }
  fmt::print("{} mutants refuted\n", made);
  EXPECT_GT(made, 200);
}

}  // namespace
}  // namespace tutti::checker
