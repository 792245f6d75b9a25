// Programs for streams: proved for every algorithm, and refuted with one fault.
#include <gtest/gtest.h>

#include "lib/plan_checker/prove_plans.hpp"
#include "lib/plan_checker/prove_programs.hpp"
#include "lib/transport/stream/program.hpp"
#include "tests/checker/plan_cases.hpp"
#include "tutti/error.hpp"

namespace tutti::checker {
namespace {

constexpr shm::SharedMemory on_devices{
    .cell_bytes = 8, .piece_bytes = 24, .joined_bytes = 0, .is_for_device = true, .eager_messages = 3};

/// Ranks whose blocks differ in size, some empty, or lie apart.
void list_blocks(PlanCase& what, std::mt19937& random) {
  const Collective collective = what.choice.algorithm->collective;
  if (collective < Collective::reduce_scatter || collective > Collective::alltoall || random() % 2 == 0) return;
  const int blocks = what.what.size * (collective == Collective::alltoall ? what.what.size : 1);
  const bool is_even = random() % 2 == 0;
  const bool is_symmetric = collective == Collective::alltoall;
  what.what.counts.clear();
  for (int i = 0; i < blocks; ++i)
    what.what.counts.emplace_back(is_even ? 5 : (i % what.what.size + (is_symmetric ? i / what.what.size : 0)) % 4);
  what.what.gap = Count{static_cast<int>(random() % 3)};
}

PlanCase stream_case_of(const Algorithm& algorithm, int ranks, std::mt19937& random) {
  PlanCase what = case_of(algorithm, ranks, {}, random);
  list_blocks(what, random);
  return what;
}

TEST(Programs, AreProvedForEveryAlgorithm) {
  int programs = 0, operations = 0;
  constexpr int most_ranks = 17;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{7};
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
      for (int again = 0; again < (ranks <= 9 ? 6 : 1); ++again) {
        const PlanCase what = stream_case_of(*algorithm, ranks, random);
        const Plans plans{what, on_devices};
        const std::vector<stream::Program> all = programs_of(plans);
        ASSERT_EQ(fault_of(plans, all), "") << text_of(what);
        for (const stream::Program& program : all)
          operations += static_cast<int>(program.operations.size());
        programs += ranks;
      }
  }
  fmt::print("{} programs of {} operations proved\n", programs, operations);
  EXPECT_GT(programs, 20'000);
}

TEST(Programs, WithAFaultAreRefused) {
  std::array<int, program_mutation_count> made{};
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{8};
    for (int ranks = 2; ranks <= 5; ++ranks) {
      const PlanCase what = stream_case_of(*algorithm, ranks, random);
      const Plans plans{what, on_devices};
      const std::vector<stream::Program> all = programs_of(plans);
      for (std::size_t rank = 0; rank < all.size(); ++rank)
        for (ProgramMutant& mutant : mutants_of(all[rank])) {
          std::vector<stream::Program> changed = all;
          changed[rank] = std::move(mutant.program);
          ++made[static_cast<std::size_t>(mutant.mutation)];
          EXPECT_NE(fault_of(plans, changed), "") << text_of(what) << ", rank " << rank << ", operation "
                                                  << mutant.operation << ": " << to_string(mutant.mutation);
        }
    }
  }
  for (int i = 0; i < program_mutation_count; ++i) {
    fmt::print("{} refuted: {}\n", made[static_cast<std::size_t>(i)], to_string(static_cast<ProgramMutation>(i)));
    EXPECT_GT(made[static_cast<std::size_t>(i)], 100);
  }
}

/// Those that need no plan of their own in place.
TEST(Programs, OfPlansThatAreApartMayBeInPlace) {
  int in_place = 0, other = 0;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{9};
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (int again = 0; again < 4; ++again) {
        PlanCase what = case_of(*algorithm, ranks, {}, random);
        what.what.placement = Placement::in_place;
        const Plans plans{what, on_devices};
        what.what.placement = Placement::separate;
        const Plans apart{what, on_devices};
        std::vector<stream::Program> programs = programs_of(plans);
        for (int rank = 0; rank < ranks; ++rank) {
          if (plans.problems().of(Rank{rank}).aliasing != Aliasing::in_place()) continue;
          auto program = stream::program_in_place(apart.of(Rank{rank}));
          ++(program ? in_place : other);
          if (program) programs[static_cast<std::size_t>(rank)] = std::move(*program);
        }
        ASSERT_EQ(fault_of(plans, programs), "") << text_of(what);
      }
  }
  fmt::print("{} programs in place proved, {} need plans of their own\n", in_place, other);
  EXPECT_GT(in_place, 2'000);
}

/// The kernels and copies of the textbook, and one wait and one write of a flag for each message and for its room.
TEST(Programs, OfAnAllreduceAreShort) {
  for (int ranks = 2; ranks <= 8; ++ranks) {
    const auto counts_on = [&](std::string_view name, int rank) {
      PlanCase what{.choice = {.algorithm = find_algorithm(Collective::allreduce, name)}};
      what.what = {.size = ranks, .count = Count{5 * ranks}};
      const Plans plans{what, on_devices};
      return stream::counts_of(stream::program_of(plans.of(Rank{rank})));
    };
    for (int rank = 0; rank < ranks; ++rank) {
      const stream::Counts one = counts_on("one_shot", rank);
      EXPECT_EQ(one.kernels + one.copies, 2) << "the input goes to all peers at once, and a kernel reads all inputs";
      EXPECT_EQ(one.waits, 2 * (ranks - 1));
      EXPECT_EQ(one.writes, 2 * (ranks - 1));
      const stream::Counts two = counts_on("two_shot", rank);
      EXPECT_EQ(two.kernels, 1) << "it also writes its result to all peers";
      EXPECT_EQ(two.copies, 2 * (ranks - 1));
      EXPECT_EQ(two.waits, 3 * (ranks - 1)) << "for room once, for two messages";
      EXPECT_EQ(two.writes, 3 * (ranks - 1));
    }
  }
}

TEST(Programs, OfPlansThatLeaveTheNodeAreRefused) {
  PlanCase what{.choice = {.algorithm = find_algorithm(Collective::allreduce, "ring")}, .nodes = {0, 1}};
  what.what = {.size = 2, .count = Count{4}};
  const Plans plans{what, on_devices};
  EXPECT_THROW(static_cast<void>(programs_of(plans)), Error);
}

}  // namespace
}  // namespace tutti::checker
