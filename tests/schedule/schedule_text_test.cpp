// Schedules as text.
#include <gtest/gtest.h>

#include <vector>

#include "lib/core/schedule/text.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

TEST(Text, OfASmallRing) {
  const Algorithm* ring = find_algorithm(Collective::allreduce, "ring");
  ASSERT_NE(ring, nullptr);
  const Schedule schedule = ring->build({Rank{0}, 3, Count{3}, Aliasing::separate()});
  EXPECT_EQ(to_text(schedule),
            "send input[2..3) to 1\n"
            "recv scratch[0..1) from 2\n"
            "reduce output[1..2) = scratch[0..1) (+) input[1..2)\n"
            "send output[1..2) to 1 (message 1)\n"
            "recv scratch[0..1) from 2 (message 1)\n"
            "reduce output[0..1) = scratch[0..1) (+) input[0..1)\n"
            "send output[0..1) to 1 (message 2)\n"
            "recv output[2..3) from 2 (message 2)\n"
            "send output[2..3) to 1 (message 3)\n"
            "recv output[1..2) from 2 (message 3)\n"
            "scratch 1 elements\n");
}

TEST(Text, ByRounds) {
  const Algorithm* ring = find_algorithm(Collective::allreduce, "ring");
  ASSERT_NE(ring, nullptr);
  const Schedule schedule = ring->build({Rank{0}, 3, Count{3}, Aliasing::separate()});
  EXPECT_EQ(to_text(schedule, std::vector{2, 1, 1, 2, 2, 2, 3, 3, 4, 4}),
            "round 1\n"
            "  recv scratch[0..1) from 2\n"
            "  reduce output[1..2) = scratch[0..1) (+) input[1..2)\n"
            "round 2\n"
            "  send input[2..3) to 1\n"
            "  send output[1..2) to 1 (message 1)\n"
            "  recv scratch[0..1) from 2 (message 1)\n"
            "  reduce output[0..1) = scratch[0..1) (+) input[0..1)\n"
            "round 3\n"
            "  send output[0..1) to 1 (message 2)\n"
            "  recv output[2..3) from 2 (message 2)\n"
            "round 4\n"
            "  send output[2..3) to 1 (message 3)\n"
            "  recv output[1..2) from 2 (message 3)\n"
            "scratch 1 elements\n");
}

TEST(Text, OfActions) {
  const Region two{Buffer::output, Count{4}, Count{2}};
  EXPECT_EQ(to_text(Action{Send{Rank{3}, {}, 2}}), "send signal to 3 (message 2)");
  EXPECT_EQ(to_text(Action{Recv{Rank{3}, {two, two.in(Buffer::scratch)}}}), "recv output[4..6) + scratch[4..6) from 3");
  EXPECT_EQ(to_text(Action{Copy{two.in(Buffer::input), two}}), "copy output[4..6) = input[4..6)");
}

}  // namespace
}  // namespace tutti
