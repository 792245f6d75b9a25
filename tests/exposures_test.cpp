// Which messages are read in the memory of their sender.
#include "lib/shm/exposures.hpp"

#include <functional>
#include <utility>

#include "tests/shm_two_ends.hpp"

namespace tutti::shm {
namespace {

using namespace std::chrono_literals;

/// What is decided for one peer, with steps of a plan that say what happens.
class Decisions : public TwoEnds {
 protected:
  Decisions() : TwoEnds(SingleCopyUse::measured) {
    for (const int me : {0, 1})
      static_cast<void>(links_[static_cast<std::size_t>(me)]->open(1 - me));
    for (const int me : {0, 1})
      links_[static_cast<std::size_t>(me)]->reserve_areas(1 - me);
  }
  static CompiledStep step(Verb verb, int peer) {
    return {.verb = verb, .path = Path::ring, .peer = peer, .bytes = 100'000};
  }
  static CompiledPlan plan(int me, std::vector<CompiledStep> steps, Collective collective = Collective::alltoall) {
    CompiledPlan plan;
    plan.problem.collective = collective;
    plan.problem.rank = Rank{me};
    plan.problem.size = ranks;
    plan.steps = std::move(steps);
    return plan;
  }
  Exposures exposures(int me, const CompiledPlan& plan) {
    return {*links_[static_cast<std::size_t>(me)], locals_, plan, SingleCopyUse::measured};
  }
  /// An operation of rank 0's, whose messages, all sent in the same way, take so long.
  static void run(Exposures& exposures, const CompiledPlan& plan, Exposures::Way way, std::chrono::nanoseconds took) {
    exposures.begin();
    for (const CompiledStep& each : plan.steps)
      if (each.verb == Verb::send)
        exposures.sends(each, way);
      else
        exposures.arrives(each, way, took);
    for (const CompiledStep& each : plan.steps)
      exposures.is_over(each);
  }
  std::vector<int> locals_{0, 1};
};

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
  const CompiledPlan here = plan(0, {step(Verb::send, 1), step(Verb::recv, 1)}),
                     there = plan(1, {step(Verb::send, 0), step(Verb::recv, 0)});
  Exposures low = exposures(0, here), high = exposures(1, there);
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

TEST_F(Decisions, MixedOperationsCountForNothing) {
  const CompiledPlan here = plan(0, {step(Verb::send, 1), step(Verb::recv, 1)});
  Exposures low = exposures(0, here);
  for (int i = 0; i < 100; ++i) {
    low.begin();
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
    low.begin();
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

TEST_F(Decisions, ReductionsAreStaged) {
  const CompiledPlan here = plan(0, {step(Verb::recv_reduce, 1)}, Collective::reduce),
                     there = plan(1, {step(Verb::send, 0)}, Collective::reduce);
  Exposures receiver = exposures(0, here), sender = exposures(1, there);
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(sender.is_wished(there.steps[0]));
    run(receiver, here, Exposures::Way::staged, 9ms);
  }
}

/// Another plan of the same call and size wished it, and this one reduces.
TEST_F(Decisions, AWishIsTakenBackIfAMessageIsReduced) {
  const CompiledPlan here = plan(0, {step(Verb::recv_reduce, 1)}, Collective::exscan),
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
TEST(MayExpose, NotEveryMessage) {
  const CompiledStep send{.verb = Verb::send, .path = Path::ring, .bytes = 100'000};
  EXPECT_TRUE(Exposures::may_expose(send));
  CompiledStep other = send;
  other.path = Path::swap;
  EXPECT_FALSE(Exposures::may_expose(other));
  other = send;
  other.group = 0;
  EXPECT_FALSE(Exposures::may_expose(other));
  other = send;
  other.last_dependent = 1;
  EXPECT_FALSE(Exposures::may_expose(other));
  other = send;
  other.bytes = 1000;
  EXPECT_FALSE(Exposures::may_expose(other));
}

}  // namespace
}  // namespace tutti::shm
