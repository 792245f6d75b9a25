// Plans that are compiled of files of schedules are proved, too: with all that shared memory adds, on buffers of
// devices, and as programs for streams, where buffers lie as the file requires and where they do not.
#include <gtest/gtest.h>

#include "lib/core/files/filed_algorithm.hpp"
#include "lib/proof/plan_checker/prove_plans.hpp"
#include "lib/proof/plan_checker/prove_programs.hpp"
#include "tests/checker/plan_cases.hpp"

namespace tutti::checker {
namespace {

constexpr std::int64_t chunks = 12;

/// The schedules of an algorithm, as a file has them. Algorithms for nodes: two of them.
ScheduleFile file_of(const Algorithm& algorithm, int ranks, bool is_in_place) {
  ScheduleFile file{.path = "FILE", .collective = algorithm.collective, .ranks = ranks, .chunks = chunks};
  if (has_root(algorithm.collective)) file.root = Rank{ranks / 2};
  if (algorithm.levels != Levels::ranks && ranks > 1) file.nodes = {(ranks + 1) / 2, ranks / 2};
  file.is_commutative = algorithm.order != Order::of_ranks;
  file.is_in_place = is_in_place;
  const std::vector<int> spread = spread_of(file);
  for (int rank = 0; rank < ranks; ++rank) {
    Problem problem = problem_of(file, Rank{rank}, Count{chunks});
    problem.parameter = algorithm.parameter.fallback;
    problem.nodes = spread;
    file.schedules.push_back(schedule_of(algorithm, problem));
  }
  return file;
}

/// A call that the file serves.
PlanCase case_of(const FiledAlgorithm& filed, Count count, Placement placement) {
  const ScheduleFile& file = filed.file();
  PlanCase plan{.choice = {.algorithm = &filed.algorithm()}, .nodes = spread_of(file)};
  plan.what = {.size = file.ranks, .placement = placement};
  plan.what.root = file.root;
  plan.what.nodes = plan.nodes;
  if (file.collective != Collective::barrier) plan.what.count = count;
  return plan;
}

constexpr std::array counts{Count{12}, Count{24}, Count{13}, Count{5}, Count{0}};

/// Calls `use` with every algorithm's file and calls of it: those which it does not serve are left out.
template <class Use>
void with_each_file(const Use& use) {
  constexpr int most_ranks = 6;
  for (const Algorithm* algorithm : algorithms())
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
      for (const bool is_in_place : {false, true}) {
        FiledAlgorithm filed{file_of(*algorithm, ranks, is_in_place), "file:FILE"};
        filed.find_chunks();
        for (const Placement placement : {Placement::separate, Placement::in_place, Placement::in_place_on_even_ranks})
          for (const Count count : counts)
            if (filed.why_unfit(count).empty()) use(case_of(filed, count, placement), *algorithm);
      }
}

std::string text_of(const PlanCase& what, const Algorithm& algorithm) {
  return fmt::format("the file of {}, {}", algorithm.name, checker::text_of(what));
}

TEST(FiledPlans, AreProved) {
  PlanCounts seen;
  with_each_file([&](const PlanCase& what, const Algorithm& algorithm) {
    const PlanVerdict verdict = prove(Plans{what, memory});
    EXPECT_TRUE(verdict.proved()) << text_of(what, algorithm) << ": " << verdict.fault;
    seen += verdict.counts;
  });
  EXPECT_GT(seen.plans, 10'000);
  for (const int of_a_kind : {seen.joined, seen.forwarded, seen.shared, seen.lent, seen.answered, seen.delivered})
    EXPECT_GT(of_a_kind, 100) << "there is nothing to prove";
}

TEST(FiledPlans, OnDevicesAreProved) {
  PlanCounts seen;
  std::mt19937 random{1};
  with_each_file([&](PlanCase what, const Algorithm& algorithm) {
    constexpr std::array places{device::BufferDevices{0, 0}, device::BufferDevices{}, device::BufferDevices{1, 1}};
    constexpr std::array uses{device::StagingUse::host, device::StagingUse::device, device::StagingUse::automatic};
    for (int rank = 0; rank < what.what.size; ++rank)
      what.devices.push_back({places[random() % places.size()], uses[random() % uses.size()]});
    const PlanVerdict verdict = prove(Plans{what, memory});
    EXPECT_TRUE(verdict.proved()) << text_of(what, algorithm) << ": " << verdict.fault;
    seen += verdict.counts;
  });
  EXPECT_GT(seen.staged, 10'000);
}

TEST(FiledPlans, InStreamsAreProved) {
  int programs = 0;
  with_each_file([&](const PlanCase& what, const Algorithm& algorithm) {
    if (!what.nodes.empty()) return;  // a stream's peers are on its node
    const Plans plans{what, on_devices};
    for (const auto make : {programs_of, direct_programs_of}) {
      EXPECT_EQ(fault_of(plans, make(plans)), "") << text_of(what, algorithm);
      programs += plans.size();
    }
  });
  EXPECT_GT(programs, 20'000);
}

}  // namespace
}  // namespace tutti::checker
