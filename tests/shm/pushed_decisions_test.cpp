// Which exposed messages are copied by their sender.
#include "tests/shm/exposure_decisions.hpp"

namespace tutti::shm {
namespace {

using namespace std::chrono_literals;

class Pushes : public Decisions {
 protected:
  static CompiledStep message(Verb verb, int peer, std::int64_t bytes = 256 * 1024L) {
    CompiledStep each = step(verb, peer);
    each.bytes = bytes;
    return each;
  }
  /// Half of the operands, then half of the results.
  static CompiledPlan allreduce(int me, std::int64_t bytes = 256 * 1024L) {
    const int peer = 1 - me;
    CompiledPlan made = plan(me,
                             {message(Verb::send, peer, bytes), message(Verb::recv_reduce, peer, bytes),
                              message(Verb::send, peer, bytes), message(Verb::recv, peer, bytes)},
                             Collective::allreduce);
    made.ranks = 2;
    return made;
  }
};

TEST_F(Pushes, WhatTwoRanksExchange) {
  constexpr std::int64_t least = 128 * 1024L, most = std::int64_t{4} << 20;  // four of them
  for (const std::int64_t bytes : {least - 1, least, most - 1, most}) {
    const CompiledPlan here = allreduce(0, bytes);
    EXPECT_EQ(exposures(0, here).is_pushed(here.steps[0]), bytes >= least && bytes < most) << bytes;
    EXPECT_EQ(exposures(0, here).concerns(here.steps[0]), bytes >= least && bytes < most) << "else staged";
  }
  CompiledPlan other = allreduce(0);
  other.ranks = 3;
  EXPECT_FALSE(exposures(0, other).is_pushed(other.steps[0])) << "of three";
  other = allreduce(0);
  other.steps.resize(1);
  EXPECT_FALSE(exposures(0, other).is_pushed(other.steps[0])) << "one way";
  other = allreduce(0);
  other.steps[1].joint = 0;
  EXPECT_FALSE(exposures(0, other).is_pushed(other.steps[0])) << "what is joined cannot be read";
  other = allreduce(0);
  other.takes_turns = false;
  EXPECT_FALSE(exposures(0, other).is_pushed(other.steps[0])) << "messages of their own";
}

/// A rank need not come again for what it has started, but for an allreduce.
TEST_F(Pushes, OnlyWhereBothRanksComeForIt) {
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter, Collective::alltoall}) {
    CompiledPlan here = allreduce(0);
    here.problem.collective = collective;
    Exposures each = exposures(0, here);
    each.begin(Geometry::blocking_lane);
    EXPECT_TRUE(each.is_pushed(here.steps[0])) << to_string(collective);
    each.begin(Geometry::blocking_lane + 1);
    EXPECT_EQ(each.is_pushed(here.steps[0]), collective == Collective::allreduce) << to_string(collective);
    EXPECT_EQ(each.concerns(here.steps[0]), collective != Collective::reduce_scatter) << "staged if it reduces";
  }
}

/// Whatever waits for them, as that waits for the receiver anyway; and also if their results are sent on.
TEST_F(Pushes, MayBeExposedAndReadInPlace) {
  CompiledPlan here = allreduce(0);
  here.steps[0].last_dependent = 1;
  here.steps[1].forward = 2;
  const Exposures sender = exposures(0, here);
  EXPECT_TRUE(sender.may_expose(here.steps[0]));
  EXPECT_TRUE(sender.may_be_read(here.steps[1]));
}

TEST_F(Pushes, AreMeasuredByTheLowerRank) {
  for (const bool is_faster : {true, false}) {
    const std::int64_t bytes = is_faster ? 256 * 1024L : 1024 * 1024L;
    const CompiledPlan here = allreduce(0, bytes), there = allreduce(1, bytes);
    Exposures low = exposures(0, here), high = exposures(1, there);
    int times = 0;
    for (int i = 0; i < 100; ++i) {
      const bool exposed = low.is_wished(here.steps[0]);
      EXPECT_EQ(high.is_wished(there.steps[0]), exposed);
      times += exposed ? 1 : 0;
      const auto way = exposed ? Exposures::Way::exposed : Exposures::Way::staged;
      run(low, here, way, exposed == is_faster ? 1ms : 9ms);
      run(high, there, way, exposed == is_faster ? 9ms : 1ms);  // counts for nothing
    }
    EXPECT_GE(times, is_faster ? 80 : 3);
    EXPECT_LE(times, is_faster ? 98 : 20);
  }
}

}  // namespace
}  // namespace tutti::shm
