// Which parts of memory are taken: against a list of units, in random order.
#include "lib/core/transport/shm/segment/arena.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace tutti::shm {
namespace {

constexpr std::int64_t unit = 16, units = 64;

TEST(Arena, HandsOutTheLowestPartThatFits) {
  Arena arena{unit * units, unit};
  EXPECT_EQ(arena.take(1)->offset, 0);
  EXPECT_EQ(arena.take(unit + 1)->offset, unit);
  EXPECT_EQ(arena.take(unit)->offset, 3 * unit);
  EXPECT_EQ(arena.give_back(unit).bytes, 2 * unit);
  EXPECT_EQ(arena.take(3 * unit)->offset, 4 * unit);
  EXPECT_EQ(arena.take(2 * unit)->offset, unit);
}

TEST(Arena, SaysWhenThereIsNoRoom) {
  Arena arena{unit * units + 1, unit};
  EXPECT_FALSE(arena.take(unit * units + 1));
  EXPECT_FALSE(arena.take(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(arena.take(unit * units)->bytes, unit * units);
  EXPECT_FALSE(arena.take(1));
}

TEST(Arena, NeverOverlapsAndLosesNothing) {
  std::mt19937 random{7};
  Arena arena{unit * units, unit};
  std::vector<int> owner(units, 0);
  std::vector<Arena::Part> parts;
  for (int turn = 1; turn < 20'000; ++turn) {
    if (random() % 2 == 0) {
      const auto part = arena.take(1 + static_cast<std::int64_t>(random() % (unit * 9)));
      if (!part) continue;
      for (std::int64_t i = part->offset / unit; i < (part->offset + part->bytes) / unit; ++i) {
        ASSERT_EQ(owner[static_cast<std::size_t>(i)], 0) << "turn " << turn;
        owner[static_cast<std::size_t>(i)] = turn;
      }
      parts.push_back(*part);
    } else if (!parts.empty()) {
      std::swap(parts[random() % parts.size()], parts.back());
      const Arena::Part part = arena.give_back(parts.back().offset);
      ASSERT_EQ(part.bytes, parts.back().bytes);
      std::fill_n(owner.begin() + part.offset / unit, part.bytes / unit, 0);
      parts.pop_back();
    }
  }
  for (const Arena::Part& part : parts)
    arena.give_back(part.offset);
  EXPECT_EQ(arena.take(unit * units)->offset, 0) << "free parts were not joined";
}

}  // namespace
}  // namespace tutti::shm
