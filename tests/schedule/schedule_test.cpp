// The builder: dependencies between steps, dropped steps, numbers of messages, refused steps.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Count n{8};
constexpr Rank me{1}, left{0}, right{2};

ScheduleBuilder plan_with(Aliasing aliasing = Aliasing::separate()) {
  return ScheduleBuilder{Problem{me, 3, n, aliasing}};
}

Region part(const Region& whole, int begin, int end) {
  return {whole.buffer, whole.offset + Count{begin}, Count{end - begin}};
}

std::vector<std::vector<int>> edges(ScheduleBuilder& plan) {
  std::vector<std::vector<int>> edges;
  for (const Step& step : plan.build().steps)
    edges.push_back(step.after);
  return edges;
}

TEST(Dependencies, ReadAfterWrite) {
  auto plan = plan_with();
  plan.recv(part(plan.output(), 0, 4), left);
  plan.recv(part(plan.output(), 4, 8), left);
  plan.send(part(plan.output(), 3, 5), right);
  plan.send(part(plan.output(), 5, 6), right);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0, 1), ElementsAre(1)));
}

TEST(Dependencies, WriteAfterReadAndAfterWrite) {
  auto plan = plan_with();
  const Region theirs = plan.scratch(n);
  plan.recv(theirs, left);
  plan.send(part(theirs, 0, 4), right);
  plan.send(part(theirs, 2, 8), right);
  plan.recv(part(theirs, 0, 3), left);
  plan.recv(part(theirs, 0, 1), left);
  plan.send(theirs, right);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(0, 1, 2), ElementsAre(3),
                                       ElementsAre(0, 3, 4)));
}

TEST(Dependencies, ReadsDoNotWaitForReads) {
  auto plan = plan_with();
  plan.send(plan.input(), left);
  plan.send(plan.input(), right);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(Dependencies, ReductionInPlaceWaitsForOthersOnly) {
  auto plan = plan_with();
  const Region theirs = plan.scratch(n);
  plan.recv(theirs, left);
  plan.copy(plan.input(), plan.output());
  plan.reduce(theirs, plan.output(), plan.output());
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0, 1)));
}

TEST(Dependencies, OfSeveralRegionsInOneMessage) {
  auto plan = plan_with();
  plan.recv({part(plan.output(), 0, 1), part(plan.output(), 6, 7)}, left);
  plan.recv(part(plan.output(), 3, 4), left);
  plan.send({part(plan.output(), 6, 7), part(plan.output(), 3, 4)}, right);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0, 1)));
}

TEST(Aliasing, SeparateBuffersAreUnrelated) {
  auto plan = plan_with();
  plan.send(plan.input(), left);
  plan.recv(plan.output(), left);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty()));
}

TEST(Aliasing, InPlaceAWriteOfTheOutputFollowsReadsOfTheInput) {
  auto plan = plan_with(Aliasing::in_place());
  plan.send(part(plan.input(), 0, 4), left);
  plan.recv(part(plan.output(), 4, 8), left);
  plan.recv(part(plan.output(), 3, 4), left);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0)));
}

TEST(Aliasing, InputInsideTheOutput) {
  constexpr Count block{2};
  ScheduleBuilder plan{Problem{me, 3, block, Aliasing::inside_output(block)}, block, 3 * block};
  plan.copy(plan.input(), part(plan.output(), 2, 4));  // is there already
  plan.send(plan.input(), left);
  plan.recv(part(plan.output(), 0, 2), left);
  plan.recv(part(plan.output(), 3, 5), right);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0)));
}

TEST(Builder, DropsStepsOnNothingAndCopiesOntoThemselves) {
  auto plan = plan_with(Aliasing::in_place());
  const Region nothing = plan.output().first(Count{0});
  plan.send(nothing, left);
  plan.recv(nothing, left);
  plan.reduce(nothing, nothing, nothing);
  plan.copy(nothing, nothing);
  plan.send(Regions{}, left);
  plan.copy(plan.input(), plan.output());
  EXPECT_THAT(plan.build().steps, IsEmpty());
}

TEST(Builder, KeepsACopyBetweenSeparateBuffers) {
  auto plan = plan_with();
  plan.copy(plan.input(), plan.output());
  EXPECT_EQ(plan.build().steps.size(), 1u);
}

TEST(Builder, NumbersMessagesByPairAndDirection) {
  auto plan = plan_with();
  plan.send(plan.input(), left);
  plan.send(plan.input().first(Count{0}), left);
  plan.send(plan.input(), right);
  plan.recv(part(plan.output(), 0, 4), left);
  plan.signal(left);
  plan.await(left);
  plan.recv(part(plan.output(), 4, 8), left);
  std::vector<int> sent, received;
  for (const auto& [action, after] : plan.build().steps) {
    if (const auto* send = std::get_if<Send>(&action)) sent.push_back(send->message);
    if (const auto* recv = std::get_if<Recv>(&action)) received.push_back(recv->message);
  }
  EXPECT_THAT(sent, ElementsAre(0, 0, 1));
  EXPECT_THAT(received, ElementsAre(0, 1, 2));
}

TEST(Builder, ASignalFollowsAllAndAnAwaitPrecedesAll) {
  auto plan = plan_with();
  plan.send(plan.input(), left);
  plan.recv(plan.output(), left);
  plan.signal(right);
  plan.signal(left);
  plan.await(right);
  plan.send(plan.input(), right);
  EXPECT_THAT(edges(plan),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0, 1), ElementsAre(2), IsEmpty(), ElementsAre(4)));
}

TEST(Builder, AwaitsFollowEachOther) {
  auto plan = plan_with();
  plan.await(left);
  plan.await(right);
  plan.signal(left);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0, 1)));
}

TEST(Builder, WhatFollowsWaitsThoughItTouchesNothingInCommon) {
  auto plan = plan_with();
  plan.send(plan.input(), left);
  plan.recv(part(plan.output(), 0, 4), left);
  EXPECT_EQ(plan.steps(), 2);
  plan.follow(0, 2);
  plan.send(plan.input(), right);
  plan.follow(2, 3);
  plan.recv(part(plan.output(), 4, 8), right);
  plan.follow(0, 0);
  plan.send(plan.input(), left);
  EXPECT_THROW(plan.follow(0, 6), std::logic_error);
  EXPECT_THAT(edges(plan), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(0, 1), ElementsAre(2), IsEmpty()));
}

TEST(Builder, DropsEmptyRegionsWhereverTheyLie) {
  auto plan = plan_with();
  const Region nowhere{Buffer::input, Count{100}, Count{0}};
  plan.send(Regions{nowhere, plan.input(), nowhere}, right);
  const Schedule schedule = plan.build();
  EXPECT_THAT(std::get<Send>(schedule.steps.at(0).action).from, ElementsAre(Region{Buffer::input, Count{0}, n}));
}

TEST(Builder, ReducesInTheOrderOfRanks) {
  auto plan = plan_with();
  const Region theirs = plan.scratch(n);
  plan.recv(theirs, left);
  plan.reduce_in_order(left, theirs, plan.input(), plan.output());
  plan.reduce_in_order(right, theirs, plan.input(), plan.output());
  const Schedule schedule = plan.build();
  EXPECT_EQ(std::get<Reduce>(schedule.steps[1].action).lhs, theirs);
  EXPECT_EQ(std::get<Reduce>(schedule.steps[2].action).rhs, theirs);
}

TEST(Builder, CountsScratch) {
  auto plan = plan_with();
  EXPECT_EQ(plan.scratch(Count{3}), (Region{Buffer::scratch, Count{0}, Count{3}}));
  EXPECT_EQ(plan.scratch(Count{2}), (Region{Buffer::scratch, Count{3}, Count{2}}));
  EXPECT_EQ(plan.build().scratch, Count{5});
}

TEST(Refused, Problems) {
  const auto build = [](int rank, int size, Count count, Aliasing aliasing) {
    ScheduleBuilder{Problem{Rank{rank}, size, count, aliasing}};
  };
  EXPECT_THROW(build(0, 0, n, {}), std::logic_error);
  EXPECT_THROW(build(3, 3, n, {}), std::logic_error);
  EXPECT_THROW(build(-1, 3, n, {}), std::logic_error);
  EXPECT_THROW(build(0, 3, Count{-1}, {}), std::logic_error);
  EXPECT_THROW(build(0, 3, n, Aliasing::inside_output(Count{1})), std::logic_error);
  EXPECT_THROW(build(0, 3, n, Aliasing::inside_output(Count{-1})), std::logic_error);
}

TEST(Refused, Regions) {
  auto plan = plan_with();
  const Region in = plan.input(), out = plan.output();
  EXPECT_THROW(plan.send(part(in, 0, 9), left), std::logic_error);
  EXPECT_THROW(plan.send(part(in, -1, 2), left), std::logic_error);
  EXPECT_THROW(plan.send(part(in, 3, 2), left), std::logic_error);
  EXPECT_THROW(plan.recv(Region{Buffer::scratch, Count{0}, Count{1}}, left), std::logic_error);
  EXPECT_THROW(plan.scratch(Count{-1}), std::logic_error);
  EXPECT_THROW(plan.recv(in, left), std::logic_error);
  EXPECT_THROW(plan.copy(out, in), std::logic_error);
  EXPECT_THROW(plan.reduce(in, out, in), std::logic_error);
  EXPECT_THROW(plan.copy(in, part(out, 0, 4)), std::logic_error);
  EXPECT_THROW(plan.reduce(in, part(out, 0, 4), out), std::logic_error);
  EXPECT_THROW(plan.copy(part(out, 0, 4), part(out, 2, 6)), std::logic_error);
  EXPECT_THROW(plan.reduce(part(in, 0, 4), part(out, 0, 4), part(out, 2, 6)), std::logic_error);
}

TEST(Refused, ReceivingTwiceIntoTheSameElements) {
  auto plan = plan_with();
  EXPECT_THROW(plan.recv({part(plan.output(), 0, 3), part(plan.output(), 2, 4)}, left), std::logic_error);
  EXPECT_NO_THROW(plan_with().recv({part(plan.output(), 0, 3), part(plan.output(), 4, 5)}, left));
}

TEST(Refused, PartialOverlapThroughAliasing) {
  auto plan = plan_with(Aliasing::in_place());
  EXPECT_THROW(plan.copy(part(plan.input(), 0, 4), part(plan.output(), 2, 6)), std::logic_error);
}

TEST(Refused, Peers) {
  auto plan = plan_with();
  EXPECT_THROW(plan.send(plan.input(), me), std::logic_error);
  EXPECT_THROW(plan.recv(plan.output(), Rank{3}), std::logic_error);
  EXPECT_THROW(plan.signal(Rank{-1}), std::logic_error);
  EXPECT_THROW(plan.await(me), std::logic_error);
}

TEST(Builder, LargeRingHasFewEdges) {
  constexpr int size = 4096;
  const Algorithm* ring = find_algorithm(Collective::allreduce, "ring");
  ASSERT_NE(ring, nullptr);
  const auto begin = std::chrono::steady_clock::now();
  const Schedule schedule = ring->build({Rank{17}, size, Count{1 << 20}, Aliasing::in_place()});
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  std::size_t edges = 0;
  for (const Step& step : schedule.steps)
    edges += step.after.size();
  fmt::print("ring, {} ranks: {} steps, {} edges, built in {:.1f} ms\n", size, schedule.steps.size(), edges,
             time.count());
  EXPECT_EQ(schedule.steps.size(), 5u * (size - 1));
  EXPECT_LE(edges, 3 * schedule.steps.size());
}

}  // namespace
}  // namespace tutti
