// The choice of the cheaper one of two ways.
#include "lib/core/transport/shm/eager/two_ways.hpp"

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
  const int count = others_of(ways, 24, 2, 5);
  EXPECT_GE(count, 6);
  EXPECT_LE(count, 15);
}

TEST(TwoWays, TriesTheOtherOnceTheUsualIsKnown) {
  TwoWays ways{tried_once_in};
  ways.add(Way::usual, 2);
  EXPECT_EQ(others_of(ways, 3, 2, 1), 3);
  EXPECT_EQ(others_of(ways, 6, 2, 1), 6) << "and goes on with it if that is cheaper";
}

TEST(TwoWays, TakesTheCheaperAndTriesTheOtherNowAndThen) {
  TwoWays first{tried_once_in};
  others_of(first, 1000, 2, 5);
  const int of_first = others_of(first, 2590, 2, 5);  // 10 rows of three
  EXPECT_GE(of_first, 27);
  EXPECT_LE(of_first, 33);
  TwoWays second{tried_once_in};
  others_of(second, 1000, 16, 5);
  const int of_second = others_of(second, 2590, 16, 5);
  EXPECT_GE(of_second, 2557);
  EXPECT_LE(of_second, 2563);
}

/// A read, for instance, is dear the first time, when it finds nothing in the caches.
TEST(TwoWays, FindsAWayThatIsCheapOnlyWhenRepeated) {
  TwoWays ways{tried_once_in};
  Way before = Way::usual;
  int others = 0;
  for (int i = 0; i < 1000; ++i) {
    const Way way = ways.choose();
    others += way == Way::other ? 1 : 0;
    ways.add(way, way == Way::usual ? 4 : before == Way::other ? 3 : 8);
    before = way;
  }
  EXPECT_GE(others, 950);
}

TEST(TwoWays, ChangesItsMindAsRanksMove) {
  TwoWays ways{tried_once_in};
  others_of(ways, 1000, 2, 5);
  others_of(ways, 5000, 16, 5);
  EXPECT_GE(others_of(ways, 1000, 16, 5), 980);
  others_of(ways, 5000, 2, 5);
  EXPECT_LE(others_of(ways, 1000, 2, 5), 20);
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
    EXPECT_LE(others_of(ways, 100, 3, 6), 6);
    TwoWays inverse{tried_once_in};
    inverse.add(slow, 30);
    others_of(inverse, 40, 6, 3);
    EXPECT_GE(others_of(inverse, 100, 6, 3), 94);
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
  EXPECT_LE(others, 60);
}

}  // namespace
}  // namespace tutti::shm
