// Plans of messages in segments grow with the number of segments, and no faster: their steps, and what these wait for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/checker/problems.hpp"
#include "lib/checker/suite.hpp"
#include "lib/engine/compiled_plan.hpp"
#include "lib/schedule/passes.hpp"

namespace tutti {
namespace {

struct Size {
  std::size_t steps = 0, dependencies = 0;
};

/// Of all ranks, in segments of an element each, so many of a block or of all data; through shared memory or over MPI.
Size size_of_plans(const Algorithm& algorithm, int segments, bool shares_memory) {
  constexpr int ranks = 8;
  checker::Case what{.size = ranks, .count = Count{segments}};
  checker::mix_levels(what, algorithm);
  const checker::Problems problems{algorithm, what};
  const std::vector<std::uint8_t> reaches(ranks, 1);
  const SharedMemory memory{.reaches = reaches, .slot_bytes = 256, .piece_bytes = 65536, .ring_room = 3};
  Size size;
  for (const int rank : {0, ranks / 2, ranks - 1}) {
    const Choice choice{.algorithm = &algorithm, .parameter = algorithm.parameter.fallback, .segment = 1};
    const CompiledPlan plan = compile(choice, problems.of(Rank{rank}), Type::int8, Op::sum, MessageWindow{1},
                                      shares_memory ? memory : SharedMemory{});
    size.steps += plan.steps.size();
    size.dependencies += plan.dependents.size();
  }
  return size;
}

class Growth : public testing::TestWithParam<const Algorithm*> {};

TEST_P(Growth, IsLinearInSegments) {
  const Algorithm& algorithm = *GetParam();
  constexpr std::size_t fewer = 128, more = 512;
  for (const bool shares_memory : {false, true}) {
    const Size before = size_of_plans(algorithm, fewer, shares_memory),
               after = size_of_plans(algorithm, more, shares_memory);
    constexpr std::size_t few = 1000;  // what does not depend on them
    EXPECT_LE(after.steps, more / fewer * before.steps + few);
    EXPECT_LE(after.dependencies, more / fewer * before.dependencies + few);
    EXPECT_LE(after.dependencies, 6 * after.steps + few);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Growth, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& info) {
                           return fmt::format("{}_{}", to_string(info.param->collective), info.param->name);
                         });

/// What each exchange of the whole waits for is waited for once, and not by each of its segments.
TEST(Growth, OfPacedExchanges) {
  const Algorithm& pairwise = *find_algorithm(Collective::alltoall, "pairwise");
  for (const int segments : {256, 512, 1024, 2048, 4096}) {
    const Size size = size_of_plans(pairwise, segments, false);
    fmt::print("pairwise, p = 8, {} segments of a block: {} steps of three ranks, {} dependencies\n", segments,
               size.steps, size.dependencies);
    EXPECT_LE(size.dependencies, 4 * size.steps);
  }
}

}  // namespace
}  // namespace tutti
