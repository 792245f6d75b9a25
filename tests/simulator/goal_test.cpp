// Schedules as text for LogGOPSim.
#include <gmock/gmock.h>

#include "lib/proof/checker/problems.hpp"
#include "lib/proof/simulator/exports.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::simulator {
namespace {

std::string goal_of(Collective collective, std::string_view name, const checker::Case& what, std::int64_t element,
                    const Rates& rates) {
  JoinedSchedules joined;
  for (const checker::RankSchedule& own : checker::schedules_of(*find_algorithm(collective, name), what))
    joined.add(own.schedule);
  std::string text;
  write_goal(joined, rates, element, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string doubling(bool is_fused) {
  Rates rates;
  rates.reduced = 5e-4;
  const checker::Case what{.size = 2, .count = Count{3}, .is_fused = is_fused};
  return goal_of(Collective::allreduce, "recursive_doubling", what, 8, rates);
}

TEST(Goal, HasALineForEachStepAndEachWait) {
  EXPECT_EQ(doubling(false), R"(num_ranks 2

rank 0 {
l0: send 24b to 1 tag 0
l1: recv 24b from 1 tag 0
l2: calc 12
l2 requires l1
}
rank 1 {
l0: send 24b to 0 tag 0
l1: recv 24b from 0 tag 0
l2: calc 12
l2 requires l1
}
)");
}

TEST(Goal, HasTwoLinesForAReceiveThatReduces) {
  EXPECT_THAT(doubling(true), testing::HasSubstr("l1: recv 24b from 1 tag 0\nl1r: calc 12\nl1r requires l1\n}"));
}

/// A signal has one byte, for which the simulator charges nothing.
TEST(Goal, HasAByteForASignal) {
  EXPECT_THAT(goal_of(Collective::barrier, "dissemination", {.size = 2}, 4, {}),
              testing::HasSubstr("l0: send 1b to 1 tag 0\n"));
}

}  // namespace
}  // namespace tutti::simulator
