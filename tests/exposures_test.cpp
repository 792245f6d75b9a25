// Messages that are read in the memory of their sender: which, in what order, and what happens if they cannot be.
#include "lib/shm/exposures.hpp"

#include <sys/mman.h>

#include <cstring>
#include <functional>

#include "lib/schedule/passes.hpp"
#include "tests/shm_two_ends.hpp"

namespace tutti::shm {
namespace {

using namespace std::chrono_literals;

class Exposed : public TwoEnds {
 protected:
  Exposed() : TwoEnds(SingleCopyUse::always) {}
};

TEST_F(Exposed, IsReadInOneGo) {
  const std::vector<std::byte> data = numbered(400'000);
  begin(data.data(), std::ssize(data));
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(look(), 0) << "the second message follows once the first one is known to have been read";
  EXPECT_FALSE(sender_->advance());
  EXPECT_EQ(look(), 1);
  EXPECT_TRUE(sender_->advance());
  EXPECT_EQ(counters_.single_copies, 2U);
  EXPECT_EQ(received_, data);
}

/// Others are looked at in between.
TEST_F(Exposed, IsReadAMebibyteAtATime) {
  const std::vector<std::byte> data = numbered(5'000'000);
  begin(data.data(), std::ssize(data));
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(counters_.single_copies, 1U);
}

TEST_F(Exposed, IsNothingShort) {
  const std::vector<std::byte> data = numbered(2 * (16 * 1024 - 1));
  begin(data.data(), std::ssize(data));
  EXPECT_EQ(look() + look(), 2);
  EXPECT_TRUE(sender_->advance());
  EXPECT_EQ(counters_.single_copies, 0U);
  EXPECT_EQ(received_, data);
}

TEST_F(Exposed, IsNothingOfTuttiMemoryWhichIsLent) {
  std::byte* const data = heap_->allocate(400'000);
  const std::vector<std::byte> values = numbered(400'000);
  std::ranges::copy(values, data);
  begin(data, 400'000);
  for (int looks = 0; looks < 20; ++looks) {
    look();
    sender_->advance();
  }
  EXPECT_EQ(counters_.single_copies, 0U);
  EXPECT_GT(counters_.in_place, 0U);
  EXPECT_EQ(received_, values);
  heap_->deallocate(data);
}

/// Data that the kernel does not read, from some page on; then it does.
class Guarded {
 public:
  explicit Guarded(const std::vector<std::byte>& values)
      : bytes_(values.size()),
        pages_(static_cast<std::byte*>(
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    std::ranges::copy(values, pages_);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { ::munmap(pages_, bytes_); }
  [[nodiscard]] const std::byte* data() const { return pages_; }
  void forbid(std::size_t from) { EXPECT_EQ(::mprotect(pages_ + from, bytes_ - from, PROT_NONE), 0); }
  void allow() { EXPECT_EQ(::mprotect(pages_, bytes_, PROT_READ), 0); }

 private:
  std::size_t bytes_;
  std::byte* pages_;
};

/// Of 4 pieces the first two and a half can be read.
TEST_F(Exposed, IsStagedFromTheFirstPieceOnThatIsRefused) {
  constexpr std::size_t piece = geometry.area_bytes;
  const std::vector<std::byte> values = numbered(8 * piece);
  Guarded data(values);
  data.forbid(2 * piece + piece / 2);
  begin(data.data(), std::ssize(values));
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(counters_.refused, 1U);
  EXPECT_TRUE(std::equal(values.begin(), values.begin() + 2 * piece, received_.begin()));
  data.allow();
  int over = 0;
  for (int looks = 0; over < 2 && looks < 20; ++looks) {
    sender_->advance();
    over += look();
  }
  EXPECT_EQ(over, 2);
  EXPECT_TRUE(sender_->advance());
  EXPECT_EQ(received_, values);
  EXPECT_EQ(counters_.refused, 1U) << "it is not tried again";
  EXPECT_EQ(counters_.single_copies, 0U);
}

/// The second message. The receiver looks again only once all slots of the ring have been used.
TEST_F(Exposed, IsStagedWholeIfNothingCanBeRead) {
  constexpr std::size_t half = 8 * geometry.area_bytes;
  const std::vector<std::byte> values = numbered(2 * half);
  Guarded data(values);
  data.forbid(half);
  begin(data.data(), std::ssize(values));
  EXPECT_EQ(look(), 1);
  sender_->advance();
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(counters_.refused, 1U);
  data.allow();
  for (int looks = 0; looks < 40; ++looks) {
    for (int times = 0; times < 4; ++times)
      sender_->advance();
    look();
  }
  EXPECT_TRUE(sender_->advance());
  EXPECT_EQ(received_, values);
  EXPECT_EQ(counters_.single_copies, 1U);
}

/// The sender has failed: its buffer may hold anything by now.
TEST_F(Exposed, IsNotReadOnceItsSenderHasGivenUp) {
  std::vector<std::byte> data = numbered(400'000);
  begin(data.data(), std::ssize(data));
  sender_->port().abandon();
  std::ranges::fill(data, std::byte{1});
  EXPECT_EQ(look() + look(), 0);
  EXPECT_EQ(counters_.single_copies, 0U);
  EXPECT_EQ(counters_.refused, 1U);
}

/// A wish that another plan of the same call and size has left: what is reduced comes by areas all the same.
TEST_F(Exposed, IsNothingThatIsReduced) {
  constexpr std::int64_t bytes = 400'000;
  const auto plan_of = [&](int me) {
    Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes}};
    problem.collective = Collective::reduce;
    ScheduleBuilder builder{problem};
    if (me == 0) {
      const Region room = builder.scratch(Count{bytes});
      builder.recv(room, Rank{1});
      builder.reduce(builder.input(), room, builder.output());
    } else {
      builder.send(builder.input(), Rank{0});
    }
    return compiled(fused(builder.build()), problem, Op::max);
  };
  const CompiledPlan plans[] = {plan_of(0), plan_of(1)};
  const std::vector<std::byte> theirs = numbered(bytes);
  std::vector<std::byte> mine(bytes), result(bytes);
  Execution<ShmPort> here{plans[0], ShmPort{route_of(0), plans[0]}}, there{plans[1], ShmPort{route_of(1), plans[1]}};
  links_[0]->wishes(1).wish({.call = static_cast<int>(Collective::reduce), .size = 18}, true);
  here.bind(mine.data(), result.data());
  there.bind(theirs.data(), nullptr);
  for (Execution<ShmPort>* const run : {&here, &there}) {
    run->port().begin(0, 0);
    run->begin();
  }
  bool is_here_over = false, is_there_over = false;
  for (int looks = 0; looks < 40; ++looks) {
    is_there_over = is_there_over || there.advance();
    is_here_over = is_here_over || here.advance();
    EXPECT_TRUE(looks > 0 || !is_here_over) << "it was exposed first";
  }
  EXPECT_TRUE(is_here_over && is_there_over);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto expected = std::max<int>(0, static_cast<signed char>(theirs[i]));
    ASSERT_EQ(static_cast<signed char>(result[i]), expected) << i;
  }
  EXPECT_EQ(counters_.single_copies + counters_.refused, 0U);
  EXPECT_TRUE(links_[0]->wishes(1).can_read());
}

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
