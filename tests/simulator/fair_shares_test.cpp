// Flows on links: shares and ends that were computed by hand.
#include <gtest/gtest.h>

#include <vector>

#include "lib/proof/simulator/flows.hpp"

namespace tutti::simulator {
namespace {

/// The flows in the order in which they end, with their ends. Nothing else begins.
std::vector<std::pair<int, Time>> ends_of(Flows& flows) {
  std::vector<std::pair<int, Time>> ends;
  for (Time now = flows.next(); now != Flows::never; now = flows.next()) {
    while (flows.next() == now)
      ends.emplace_back(flows.end_next().message, now);
    flows.share(now);
  }
  return ends;
}

using Ends = std::vector<std::pair<int, Time>>;

TEST(FairShares, OneFlowHasTheRateOfItsSlowestLink) {
  Flows flows{{10, 4, 8}};
  flows.begin(7, std::vector{0, 1, 2}, 100, 1, 5);
  flows.share(5);
  EXPECT_EQ(flows.next(), 30);
  const auto [message, began, alone] = flows.end_next();
  EXPECT_EQ(message, 7);
  EXPECT_EQ(began, 5);
  EXPECT_EQ(alone, 25);
}

TEST(FairShares, TwoFlowsShareALinkUntilOneEnds) {
  Flows flows{{10}};
  flows.begin(0, std::vector{0}, 100, 1, 0);
  flows.begin(1, std::vector{0}, 50, 1, 0);
  flows.share(0);
  EXPECT_EQ(ends_of(flows), (Ends{{1, 10}, {0, 15}}));
}

TEST(FairShares, WhatALimitedFlowLeavesGoesToTheOthers) {
  // Flow 1 crosses both links, the second of which has 3: 1.5 for each there, and 8.5 for flow 0 on the first.
  Flows flows{{10, 3}};
  flows.begin(0, std::vector{0}, 170, 1, 0);
  flows.begin(1, std::vector{0, 1}, 150, 1, 0);
  flows.begin(2, std::vector{1}, 30, 1, 0);
  flows.share(0);
  // Flows 0 and 2 end at 20. Flow 1 then has 3 on its second link for the 120 bytes that are left.
  EXPECT_EQ(ends_of(flows), (Ends{{0, 20}, {2, 20}, {1, 60}}));
}

TEST(FairShares, AFlowThatBeginsLaterSlowsTheOtherDown) {
  Flows flows{{10}};
  flows.begin(0, std::vector{0}, 100, 1, 0);
  flows.share(0);
  flows.begin(1, std::vector{0}, 100, 1, 4);
  flows.share(4);
  EXPECT_EQ(ends_of(flows), (Ends{{0, 16}, {1, 20}}));  // 60 left at 4, 5 each until 16; 40 left at 16
}

TEST(FairShares, WeightsDivideALink) {
  Flows flows{{9}};
  flows.begin(0, std::vector{0}, 60, 2, 0);
  flows.begin(1, std::vector{0}, 60, 1, 0);
  flows.share(0);
  EXPECT_EQ(ends_of(flows), (Ends{{0, 10}, {1, 13}}));  // 30 left at 10, at 9 a picosecond
}

TEST(FairShares, FlowsThatMeetNowhereDoNotChangeEachOther) {
  Flows flows{{10, 10}};
  flows.begin(0, std::vector{0}, 100, 1, 0);
  flows.begin(1, std::vector{1}, 70, 1, 0);
  flows.share(0);
  EXPECT_EQ(ends_of(flows), (Ends{{1, 7}, {0, 10}}));
}

TEST(FairShares, InfiniteLinksDoNotCount) {
  Flows flows{{std::numeric_limits<double>::infinity(), 2}};
  flows.begin(0, std::vector{0, 1}, 10, 1, 0);
  flows.share(0);
  EXPECT_EQ(flows.next(), 5);
}

TEST(FairShares, FlowsThatEndAtOnceAreInTheOrderOfMessages) {
  Flows flows{{1, 1, 1}};
  for (const int message : {2, 0, 1})
    flows.begin(message, std::vector{message}, 8, 1, 0);
  flows.share(0);
  EXPECT_EQ(ends_of(flows), (Ends{{0, 8}, {1, 8}, {2, 8}}));
}

}  // namespace
}  // namespace tutti::simulator
