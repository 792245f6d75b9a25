// Which messages are read in the memory of their sender.
#include "lib/transport/shm/rendezvous/exposures.hpp"

#include <functional>

#include "tests/shm/exposure_decisions.hpp"

namespace tutti::shm {
namespace {

using namespace std::chrono_literals;

/// How often of 100 times, as the other end decides.
int times_exposed(const std::function<bool()>& is_wished, const std::function<void(Exposures::Way)>& run) {
  int times = 0;
  for (int i = 0; i < 100; ++i) {
    const bool exposed = is_wished();
    times += exposed ? 1 : 0;
    run(exposed ? Exposures::Way::exposed : Exposures::Way::staged);
  }
  return times;
}

TEST_F(Decisions, TheReceiverOfOneWayMessagesWishesWhatIsFaster) {
  for (const bool is_faster : {true, false}) {
    const Collective call = is_faster ? Collective::gather : Collective::broadcast;
    const CompiledPlan here = plan(0, {step(Verb::recv, 1)}, call), there = plan(1, {step(Verb::send, 0)}, call);
    Exposures receiver = exposures(0, here), sender = exposures(1, there);
    const int times =
        times_exposed([&] { return sender.is_wished(there.steps[0]); },
                      [&](Exposures::Way way) {
                        run(receiver, here, way, (way == Exposures::Way::exposed) == is_faster ? 1ms : 9ms);
                      });
    EXPECT_GE(times, is_faster ? 80 : 2);
    EXPECT_LE(times, is_faster ? 98 : 20);
  }
}

TEST_F(Decisions, TheLowerOfTwoThatBothSendDecidesForBoth) {
  CompiledPlan here = plan(1, {step(Verb::send, 2), step(Verb::recv, 2)}),
               there = plan(2, {step(Verb::send, 1), step(Verb::recv, 1)});
  here.takes_turns = there.takes_turns = false;
  Exposures low = exposures(1, here), high = exposures(2, there);
  const int times = times_exposed(
      [&] {
        EXPECT_EQ(low.is_wished(here.steps[0]), high.is_wished(there.steps[0]));
        return low.is_wished(here.steps[0]);
      },
      [&](Exposures::Way way) {
        run(low, here, way, way == Exposures::Way::exposed ? 1ms : 9ms);
        run(high, there, way, way == Exposures::Way::exposed ? 9ms : 1ms);  // counts for nothing
      });
  EXPECT_GE(times, 80);
}

/// By its own work, also for messages between others.
TEST_F(Decisions, TheLowestDecidesForAllWhoExchangeWithIt) {
  std::vector<CompiledPlan> plans;
  std::vector<Exposures> all;
  for (int me = 0; me < ranks; ++me) {
    const int one = (me + 1) % ranks, other = (me + 2) % ranks;
    plans.push_back(
        plan(me, {step(Verb::send, one), step(Verb::send, other), step(Verb::recv, one), step(Verb::recv, other)}));
  }
  for (int me = 0; me < ranks; ++me)
    all.push_back(exposures(me, plans[static_cast<std::size_t>(me)]));
  const int times = times_exposed(
      [&] {
        for (Exposures& each : all)
          each.begin(Geometry::blocking_lane);
        const bool is_wished = all[0].is_wished(plans[0].steps[0]);
        for (std::size_t me = 0; me < all.size(); ++me)
          for (const int send : {0, 1})
            EXPECT_EQ(all[me].is_wished(plans[me].steps[static_cast<std::size_t>(send)]), is_wished) << me;
        return is_wished;
      },
      [&](Exposures::Way way) {
        for (std::size_t me = 0; me < all.size(); ++me)
          run(all[me], plans[me], way, (way == Exposures::Way::exposed) == (me == 0) ? 1ms : 9ms);
      });
  EXPECT_GE(times, 80);
}

/// Another operation has as long messages with rank 2, of which it wished something else.
TEST_F(Decisions, TheLowestTellsAllAgainIfOperationsMix) {
  CompiledStep longer = step(Verb::send, 2), longer_back = step(Verb::recv, 2);
  longer.bytes = longer_back.bytes = 400'000;
  const CompiledPlan here = plan(0, {step(Verb::send, 1), step(Verb::recv, 1), longer, longer_back});
  longer.peer = longer_back.peer = 0;
  const CompiledPlan there = plan(2, {longer, longer_back});
  Exposures lowest = exposures(0, here), led = exposures(2, there);
  links_[0]->wishes(2).wish({.call = static_cast<int>(Collective::alltoall), .size = 19}, true);
  ASSERT_NE(led.is_wished(there.steps[0]), lowest.is_wished(here.steps[0]));
  lowest.begin(Geometry::blocking_lane);
  for (const CompiledStep& each : here.steps)
    if (each.verb == Verb::send)
      lowest.sends(each, Exposures::Way::staged);
    else
      lowest.arrives(each, each.peer == 2 ? Exposures::Way::exposed : Exposures::Way::staged, 1ms);
  for (const CompiledStep& each : here.steps)
    lowest.is_over(each);
  EXPECT_EQ(led.is_wished(there.steps[0]), lowest.is_wished(here.steps[0]));
}

/// Rank 2 exchanges with rank 1 only, which hands on what rank 0 wishes.
TEST_F(Decisions, TheLowestDecidesForNeighboursOfItsNeighbours) {
  const CompiledPlan plans[] = {
      plan(0, {step(Verb::send, 1), step(Verb::recv, 1)}),
      plan(1, {step(Verb::send, 2), step(Verb::recv, 2), step(Verb::send, 0), step(Verb::recv, 0)}),
      plan(2, {step(Verb::send, 1), step(Verb::recv, 1)})};
  std::vector<Exposures> all;
  for (int me = 0; me < ranks; ++me)
    all.push_back(exposures(me, plans[me]));
  const int times = times_exposed(
      [&] {
        for (Exposures& each : all)
          each.begin(Geometry::blocking_lane);
        const bool is_wished = all[0].is_wished(plans[0].steps[0]);
        for (std::size_t me = 0; me < all.size(); ++me)
          EXPECT_EQ(all[me].is_wished(plans[me].steps[0]), is_wished) << me;
        return is_wished;
      },
      [&](Exposures::Way way) {
        for (std::size_t me = 0; me < all.size(); ++me)
          run(all[me], plans[me], way, (way == Exposures::Way::exposed) == (me == 0) ? 1ms : 9ms);
      });
  EXPECT_GE(times, 80);
}

/// What the lowest rank exchanges says nothing of messages that go one way.
TEST_F(Decisions, OfMessagesOneWayTheReceiverDecides) {
  const CompiledPlan here = plan(2, {step(Verb::send, 0), step(Verb::recv, 0), step(Verb::recv, 1)}),
                     there = plan(1, {step(Verb::send, 2)});
  Exposures receiver = exposures(2, here), sender = exposures(1, there);
  const int times = times_exposed([&] { return sender.is_wished(there.steps[0]); },
                                  [&](Exposures::Way way) {
                                    receiver.begin(Geometry::blocking_lane);
                                    receiver.arrives(here.steps[2], way, way == Exposures::Way::exposed ? 1ms : 9ms);
                                    receiver.is_over(here.steps[2]);
                                  });
  EXPECT_GE(times, 80);
}

/// Some rank cannot be read by another: it is told, but its messages are staged.
TEST_F(Decisions, NobodyExposesToWhoCannotRead) {
  const CompiledPlan plans[] = {
      plan(0, {step(Verb::send, 1), step(Verb::recv, 1), step(Verb::send, 2), step(Verb::recv, 2)}),
      plan(1, {step(Verb::send, 0), step(Verb::recv, 0), step(Verb::send, 2), step(Verb::recv, 2)})};
  Exposures lowest = exposures(0, plans[0]), second = exposures(1, plans[1]);
  links_[2]->wishes(1).can_read(false);
  for (int i = 0; i < 20; ++i) {
    run(lowest, plans[0], i % 2 == 0 ? Exposures::Way::exposed : Exposures::Way::staged, i % 2 == 0 ? 1ms : 9ms);
    EXPECT_FALSE(second.is_wished(plans[1].steps[2]));
    if (i == 19) {
      EXPECT_TRUE(second.is_wished(plans[1].steps[0]));
    }
  }
}

TEST_F(Decisions, MixedOperationsCountForNothing) {
  const CompiledPlan here = plan(0, {step(Verb::send, 1), step(Verb::recv, 1)});
  Exposures low = exposures(0, here);
  for (int i = 0; i < 100; ++i) {
    low.begin(Geometry::blocking_lane);
    low.sends(here.steps[0], Exposures::Way::exposed);
    low.arrives(here.steps[1], Exposures::Way::staged, 1ms);
    low.is_over(here.steps[0]);
    low.is_over(here.steps[1]);
    EXPECT_FALSE(low.is_wished(here.steps[0]));
  }
}

/// One rank sends and receives in one plan, the other one in two.
TEST_F(Decisions, EndsThatPlanOtherwiseStayWithStaging) {
  const CompiledPlan here = plan(0, {step(Verb::send, 1), step(Verb::recv, 1)});
  Exposures low = exposures(0, here);
  int times = 0;
  for (int i = 0; i < 200; ++i) {
    low.begin(Geometry::blocking_lane);
    const bool is_wished = low.is_wished(here.steps[0]);
    times += is_wished ? 1 : 0;
    low.sends(here.steps[0], is_wished ? Exposures::Way::exposed : Exposures::Way::staged);
    low.arrives(here.steps[1], Exposures::Way::staged, 1ms);
    low.is_over(here.steps[0]);
    low.is_over(here.steps[1]);
  }
  EXPECT_LE(times, 10);
}

/// Programs whose plans are always new learn, too.
TEST_F(Decisions, WhatOnePlanLearntTheNextKnows) {
  const CompiledPlan here = plan(0, {step(Verb::recv, 1)}), there = plan(1, {step(Verb::send, 0)});
  int times = 0;
  for (int i = 0; i < 100; ++i) {
    Exposures receiver = exposures(0, here), sender = exposures(1, there);
    const bool is_wished = sender.is_wished(there.steps[0]);
    times += is_wished ? 1 : 0;
    run(receiver, here, is_wished ? Exposures::Way::exposed : Exposures::Way::staged, is_wished ? 1ms : 9ms);
  }
  EXPECT_GE(times, 80);
}

/// Not with others, or sent on in the same pass.
TEST_F(Decisions, WhatIsReducedByItselfMayBeRead) {
  const CompiledStep alone = step(Verb::recv_reduce, 1);
  CompiledStep forwarded = alone;
  forwarded.forward = 0;
  const CompiledPlan there = plan(1, {step(Verb::send, 0)}, Collective::reduce);
  for (const CompiledStep& each : {joined(), forwarded, alone}) {
    const CompiledPlan here = plan(0, {each}, Collective::reduce);
    Exposures receiver = exposures(0, here), sender = exposures(1, there);
    const int times = times_exposed(
        [&] { return sender.is_wished(there.steps[0]); },
        [&](Exposures::Way way) { run(receiver, here, way, way == Exposures::Way::exposed ? 1ms : 9ms); });
    const bool is_alone = each.joint < 0 && each.forward < 0;
    EXPECT_GE(times, is_alone ? 80 : 0);
    EXPECT_LE(times, is_alone ? 98 : 0);
  }
}

/// Another plan of the same call and size wished it, and this one reduces with others.
TEST_F(Decisions, AWishIsTakenBackIfAMessageIsReducedWithOthers) {
  const CompiledPlan here = plan(0, {joined()}, Collective::exscan),
                     there = plan(1, {step(Verb::send, 0)}, Collective::exscan);
  Exposures receiver = exposures(0, here), sender = exposures(1, there);
  links_[0]->wishes(1).wish({.call = static_cast<int>(Collective::exscan), .size = 16}, true);
  EXPECT_TRUE(sender.is_wished(there.steps[0]));
  receiver.refuses(here.steps[0]);
  EXPECT_FALSE(sender.is_wished(there.steps[0]));
  EXPECT_TRUE(links_[0]->wishes(1).can_read());
}

TEST_F(Decisions, NothingIsWishedOnceTheSystemRefuses) {
  const CompiledPlan here = plan(0, {step(Verb::recv, 1)}), there = plan(1, {step(Verb::send, 0)});
  Exposures receiver = exposures(0, here), sender = exposures(1, there);
  run(receiver, here, Exposures::Way::staged, 9ms);
  receiver.refuses(here.steps[0]);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(sender.is_wished(there.steps[0]));
    run(receiver, here, Exposures::Way::staged, 9ms);
  }
}

/// Of the same data to several ranks, or whose place a later step of this rank waits for.
TEST_F(Decisions, NotEveryMessageMayBeExposed) {
  const CompiledStep send = step(Verb::send, 1);
  const CompiledPlan here = plan(0, {send});
  const Exposures sender = exposures(0, here);
  EXPECT_TRUE(sender.may_expose(send));
  CompiledStep other = send;
  other.path = Path::swap;
  EXPECT_FALSE(sender.may_expose(other));
  other = send;
  other.group = 0;
  EXPECT_FALSE(sender.may_expose(other));
  other = send;
  other.last_dependent = 1;
  EXPECT_FALSE(sender.may_expose(other));
  other = send;
  other.bytes = 1000;
  EXPECT_FALSE(sender.may_expose(other));
}

}  // namespace
}  // namespace tutti::shm
