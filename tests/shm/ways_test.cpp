// Which messages of a pair, one way and back, are in swapped slots.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lib/checker/problems.hpp"
#include "lib/transport/shm/plan/shared_plan.hpp"

namespace tutti::shm {
namespace {

constexpr std::int64_t exposed_bytes = 32768;

/// Whether there are any in the plans of an algorithm, of so many bytes a block; all ranks must say the same.
bool has_swapped_slots(Collective collective, const char* name, int ranks, std::int64_t bytes,
                       std::int64_t exposed = exposed_bytes, const std::vector<Count>& counts = {}) {
  const Algorithm& algorithm = *find_algorithm(collective, name);
  checker::Case what{.size = ranks, .count = Count{bytes}};
  what.counts = counts;
  const checker::Problems problems{algorithm, what};
  const std::vector<std::uint8_t> reaches(static_cast<std::size_t>(ranks), 1);
  std::vector<bool> found;
  for (int rank = 0; rank < ranks; ++rank) {
    const SharedPlan plan = compile({.algorithm = &algorithm, .parameter = algorithm.parameter.fallback},
                                    problems.of(Rank{rank}), Type::int8, Op::sum, {},
                                    {.reaches = reaches,
                                     .slot_bytes = 256,
                                     .piece_bytes = 65536,
                                     .ring_room = 3,
                                     .exposed_bytes = exposed,
                                     .swap_slots = 2});
    found.push_back(std::ranges::any_of(plan.sides, [](const SideStep& side) { return side.way == Way::swap; }));
  }
  EXPECT_EQ(std::ranges::count(found, found[0]), ranks);
  return found[0];
}

TEST(Ways, WhatMayBeReadAtItsSenderIsInNoSwappedSlot) {
  EXPECT_TRUE(has_swapped_slots(Collective::alltoall, "linear", 4, exposed_bytes - 1));
  EXPECT_FALSE(has_swapped_slots(Collective::alltoall, "linear", 4, exposed_bytes));
  EXPECT_TRUE(has_swapped_slots(Collective::alltoall, "linear", 4, exposed_bytes, 0)) << "if nothing is read";
  EXPECT_FALSE(has_swapped_slots(Collective::allgather, "one_shot", 2, exposed_bytes));
  EXPECT_FALSE(has_swapped_slots(Collective::allgather, "one_shot", 2, 2 * exposed_bytes, exposed_bytes,
                                 {Count{exposed_bytes - 1}, Count{exposed_bytes + 1}}))
      << "one way or back";
  EXPECT_FALSE(has_swapped_slots(Collective::allreduce, "recursive_doubling", 2, exposed_bytes)) << "reduced, too";
}

}  // namespace
}  // namespace tutti::shm
