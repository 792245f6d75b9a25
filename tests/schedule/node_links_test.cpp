// The simulation of links between nodes: times that were worked out by hand.
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "lib/proof/checker/problems.hpp"
#include "lib/proof/cost/simulate.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

/// Ten elements take 1 + 5 inside a node, and 2 + 10 between nodes.
constexpr Count ten{10}, none{0};
constexpr Rates rates{.message = 1, .sent = 0.5, .between = {.message = 2, .sent = 1, .links = 1}};

Rates with_links(int links) {
  Rates more = rates;
  more.between.links = links;
  return more;
}

/// A message of one rank to another: its first elements, or a signal.
struct Message {
  int from, to;
  Count count = ten;
};

/// All messages can start at once.
double time_of(const std::vector<int>& nodes, const std::vector<Message>& messages, const Rates& rates) {
  Simulator simulator{nodes};
  const auto size = static_cast<int>(nodes.size());
  for (Rank rank; rank.value() < size; rank = Rank{rank.value() + 1}) {
    ScheduleBuilder plan{{rank, size, ten}, ten, ten};
    for (const auto& [from, to, count] : messages) {
      const bool is_signal = count == none;
      if (Rank{from} == rank) is_signal ? plan.signal(Rank{to}) : plan.send(plan.input().first(count), Rank{to});
      if (Rank{to} == rank) is_signal ? plan.await(Rank{from}) : plan.recv(plan.scratch(count), Rank{from});
    }
    simulator.add(plan.build());
  }
  return simulator.run(rates).time;
}

const std::vector<int> two_of_two{0, 0, 1, 1}, two_of_four{0, 0, 0, 0, 1, 1, 1, 1};

TEST(NodeLinks, InsideAndBetweenNodes) {
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 1}}, rates), 6);
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}}, rates), 12);
  EXPECT_DOUBLE_EQ(time_of({0, 1, 0, 1}, {{0, 1}}, rates), 12);
  EXPECT_DOUBLE_EQ(time_of({0, 1, 0, 1}, {{0, 2}}, rates), 6);
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 1}, {2, 3}}, rates), 6);
}

TEST(NodeLinks, OneNodeIsAsNone) { EXPECT_DOUBLE_EQ(time_of({0, 0, 0}, {{0, 1}, {1, 2}}, rates), 6); }

/// Each message has half of the link: 2 * 12.
TEST(NodeLinks, TwoMessagesShareALink) {
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}, {1, 3}}, rates), 24);
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}, {1, 3}}, with_links(2)), 12);
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}, {1, 3}}, with_links(3)), 12);
}

/// Links have two directions.
TEST(NodeLinks, ExchangesDoNotShare) {
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}, {2, 0}}, rates), 12);
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}, {3, 1}}, rates), 12);
}

/// Three messages on two links have two thirds of one each, 12 * 3 / 2; four on one link a fourth, 12 * 4.
TEST(NodeLinks, ThreeMessagesShareTwoLinks) {
  EXPECT_DOUBLE_EQ(time_of(two_of_four, {{0, 4}, {1, 5}, {2, 6}}, with_links(2)), 18);
  EXPECT_DOUBLE_EQ(time_of(two_of_four, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}, rates), 48);
}

/// Two nodes send to a third, which receives over one link.
TEST(NodeLinks, ReceiversShareAsWell) {
  EXPECT_DOUBLE_EQ(time_of({0, 1, 2, 2}, {{0, 2}, {1, 3}}, rates), 24);
  EXPECT_DOUBLE_EQ(time_of({0, 1, 2, 3}, {{0, 2}, {1, 3}}, rates), 12);
}

/// The short one, which takes 6 alone, has half of the link up to 12; the other has then done 6 of 12, and has the
/// link.
TEST(NodeLinks, WhoIsLeftHasTheWholeLink) {
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}, {1, 3, Count{4}}}, rates), 18);
}

/// Rank 1 sends inside its node up to 6, when the other has done 6 of 12. They share up to 18, then the second has done
/// 6 of 12, and has the link.
TEST(NodeLinks, WhoComesLaterTakesItsShare) {
  EXPECT_DOUBLE_EQ(time_of({0, 0, 0, 1, 1}, {{0, 3}, {1, 2}, {1, 4}}, rates), 24);
}

/// Messages 0 > 2 and 1 > 4 share the link of node 0; the second does not become faster at its other end, alone.
TEST(NodeLinks, TheSmallerShareCounts) {
  EXPECT_DOUBLE_EQ(time_of({0, 0, 1, 1, 2, 3}, {{0, 2}, {1, 4}, {5, 3}}, rates), 24);
}

/// Four ranks signal to another node, each with a fourth of its link.
TEST(NodeLinks, SignalsShareAsWell) {
  EXPECT_DOUBLE_EQ(time_of(two_of_four, {{0, 4, none}, {1, 5, none}, {2, 6, none}, {3, 7, none}}, rates), 8);
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2, none}}, rates), 2);
}

TEST(NodeLinks, RanksStillSendOneMessageAtATime) {
  EXPECT_DOUBLE_EQ(time_of(two_of_two, {{0, 2}, {0, 3}}, with_links(2)), 24);
}

TEST(NodeLinks, RefusesNodesOfOtherRanksAndNoLinks) {
  Simulator simulator{two_of_two};
  simulator.add({});
  EXPECT_THROW((void)simulator.run(rates), std::logic_error);
  EXPECT_THROW((void)time_of(two_of_two, {}, with_links(0)), std::logic_error);
}

/// With rates that are the same everywhere, and links for all ranks, nodes make no difference.
TEST(NodeLinks, EqualRatesAreNoNodes) {
  constexpr Rates everywhere{
      .message = 1, .sent = 0.5, .reduced = 0.25, .between = {.message = 1, .sent = 0.5, .links = 4}};
  for (const Algorithm* algorithm : algorithms()) {
    const checker::Case what{.size = 8, .count = Count{16}, .nodes = two_of_four};
    Simulator apart{two_of_four}, together;
    for (const checker::RankSchedule& own : checker::schedules_of(*algorithm, what))
      apart.add(own.schedule), together.add(own.schedule);
    EXPECT_DOUBLE_EQ(apart.run(everywhere).time, together.run(everywhere).time)
        << to_string(algorithm->collective) << " " << algorithm->name;
  }
}

}  // namespace
}  // namespace tutti
