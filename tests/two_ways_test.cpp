// The cheaper one of two ways, as measured.
#include "lib/shm/two_ways.hpp"

#include <gtest/gtest.h>

namespace tutti::shm {
namespace {

using Way = TwoWays::Way;
constexpr unsigned tried_once_in = 257;

/// Does it so many times at these costs; gives how often the other way.
int others_of(TwoWays& ways, int times, double usual, double other) {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    const Way way = ways.choose();
    count += way == Way::other ? 1 : 0;
    ways.add(way, way == Way::other ? other : usual);
  }
  return count;
}

TEST(TwoWays, TriesBothFirst) {
  TwoWays ways{tried_once_in};
  const int count = others_of(ways, 16, 2, 5);
  EXPECT_GE(count, 3);
  EXPECT_LE(count, 12);
}

TEST(TwoWays, TakesTheCheaperAndTriesTheOtherNowAndThen) {
  TwoWays first{tried_once_in};
  others_of(first, 1000, 2, 5);
  const int of_first = others_of(first, 2570, 2, 5);
  EXPECT_GE(of_first, 9);
  EXPECT_LE(of_first, 11);
  TwoWays second{tried_once_in};
  others_of(second, 1000, 16, 5);
  const int of_second = others_of(second, 2570, 16, 5);
  EXPECT_GE(of_second, 2559);
  EXPECT_LE(of_second, 2561);
}

TEST(TwoWays, ChangesItsMindAsRanksMove) {
  TwoWays ways{tried_once_in};
  others_of(ways, 1000, 2, 5);
  others_of(ways, 5000, 16, 5);
  EXPECT_GE(others_of(ways, 1000, 16, 5), 990);
  others_of(ways, 5000, 2, 5);
  EXPECT_LE(others_of(ways, 1000, 2, 5), 10);
}

TEST(TwoWays, ForgivesOneThatTookLong) {
  TwoWays ways{tried_once_in};
  others_of(ways, 1000, 3, 6);
  ways.add(Way::usual, 10'000);
  EXPECT_LE(others_of(ways, 100, 3, 6), 10);
}

/// Memory that is first touched, say.
TEST(TwoWays, ForgivesAFirstOneThatTookLong) {
  for (const Way slow : {Way::usual, Way::other}) {
    TwoWays ways{tried_once_in};
    ways.add(slow, 30);
    others_of(ways, 40, 3, 6);
    EXPECT_LE(others_of(ways, 100, 3, 6), 3);
    TwoWays inverse{tried_once_in};
    inverse.add(slow, 30);
    others_of(inverse, 40, 6, 3);
    EXPECT_GE(others_of(inverse, 100, 6, 3), 97);
  }
}

/// One of three took twice as long: ranks that share a processor.
TEST(TwoWays, IsNotMisledByNoise) {
  TwoWays ways{tried_once_in};
  int others = 0;
  for (int i = 0; i < 3000; ++i) {
    const Way way = ways.choose();
    others += way == Way::other ? 1 : 0;
    ways.add(way, (way == Way::other ? 6 : 4) * (i % 3 == 0 ? 2 : 1));
  }
  EXPECT_LE(others, 30);
}

}  // namespace
}  // namespace tutti::shm
