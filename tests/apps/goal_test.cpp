// Schedules as text for LogGOPSim.
#include <gmock/gmock.h>

#include "apps/options.hpp"
#include "apps/tutti/scene.hpp"

namespace tutti::tool {
namespace {

Scene doubling(bool is_fused) {
  const checker::Case what{.size = 2, .count = Count{3}, .is_fused = is_fused};
  return Scene{{find_algorithm(Collective::allreduce, "recursive_doubling")}, what};
}

TEST(Goal, HasALineForEachStepAndEachWait) {
  EXPECT_EQ(to_goal(doubling(false), {.element = 8, .reduced = 0.5}),
            R"(// allreduce recursive_doubling, 2 ranks, 3 elements, 8 bytes an element
num_ranks 2

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
  EXPECT_EQ(to_goal(doubling(true), {}),
            R"(// allreduce recursive_doubling, 2 ranks, 3 elements, fused, 4 bytes an element
num_ranks 2

rank 0 {
  l0: send 12b to 1 tag 0
  l1: recv 12b from 1 tag 0
  l1r: calc 0
  l1r requires l1
}

rank 1 {
  l0: send 12b to 0 tag 0
  l1: recv 12b from 0 tag 0
  l1r: calc 0
  l1r requires l1
}
)");
}

/// A signal has one byte, for which the simulator charges nothing.
TEST(Goal, HasAByteForASignal) {
  const checker::Case what{.size = 2};
  const Scene barrier{{find_algorithm(Collective::barrier, "dissemination"), 2}, what};
  EXPECT_THAT(to_goal(barrier, {}), testing::HasSubstr("l0: send 1b to 1 tag 0\n"));
}

}  // namespace
}  // namespace tutti::tool
