// One look at the messages of shared memory: after how much of them it lets others go first.
#include "lib/shm/shm_port.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "tutti/schedule_builder.hpp"

namespace tutti::shm {
namespace {

/// Rank 1 sends rank 0 its input in two messages. Both are in this process, and move only when they are told to.
class TwoEnds : public testing::Test {
 protected:
  static constexpr int ranks = 2;
  static constexpr Geometry geometry{};

  TwoEnds() {
    const std::int64_t heap_at = Segment::first_free + geometry.window_bytes(ranks);
    segment_ = std::make_shared<Segment>(MPI_COMM_WORLD, heap_at + ranks * NodeHeap::bytes_of_each(ranks));
    heap_ = std::make_shared<NodeHeap>(segment_, heap_at, ranks, 1);
    for (int me = 0; me < ranks; ++me)
      links_.push_back(std::make_unique<Links>(segment_, heap_, geometry, Segment::first_free, ranks, me));
  }

  /// Posts both receives and sends both messages, of a half of the data each.
  void begin(const std::byte* data, std::int64_t bytes) {
    for (int me = 0; me < ranks; ++me)
      plans_.push_back(plan_of(me, bytes));
    received_.resize(static_cast<std::size_t>(bytes));
    receiver_ = std::make_unique<ShmPort>(route_of(0), plans_[0]);
    receiver_->begin(0, 0);
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(receiver_->post_recv(i, plans_[0].steps[static_cast<std::size_t>(i)], received_.data() + i * bytes / 2),
                Posted::pending);
    sender_ = std::make_unique<Execution<ShmPort>>(plans_[1], ShmPort{route_of(1), plans_[1]});
    sender_->bind(data, nullptr);
    sender_->port().begin(0, 0);
    sender_->begin();
    sender_->advance();
  }
  /// How many messages the receiver's next look ends.
  int look() {
    int over = 0;
    receiver_->poll([&over](int /*step*/) { ++over; });
    return over;
  }
  static CompiledPlan compiled(const Schedule& schedule, const Problem& problem, const Op& op) {
    const std::vector<std::uint8_t> reaches(ranks, 1);
    return compile(schedule, problem, Type::int8, op, MessageWindow{},
                   {.reaches = reaches, .piece_bytes = geometry.area_bytes, .swap_slots = Geometry::most_swap_slots});
  }
  Route route_of(int me) {
    return {.links = links_[static_cast<std::size_t>(me)].get(), .locals = locals_, .counters = &counters_};
  }

  std::shared_ptr<const Segment> segment_;
  std::shared_ptr<NodeHeap> heap_;
  std::vector<std::byte> received_;
  MessageCounters counters_;
  std::unique_ptr<Execution<ShmPort>> sender_;

 private:
  static CompiledPlan plan_of(int me, std::int64_t bytes) {
    const Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes}};
    const auto half = [bytes](Region all, int i) { return Region{all.buffer, Count{i * bytes / 2}, Count{bytes / 2}}; };
    ScheduleBuilder builder{problem};
    for (int i = 0; i < 2; ++i)
      if (me == 0)
        builder.recv(half(builder.output(), i), Rank{1});
      else
        builder.send(half(builder.input(), i), Rank{0});
    return compiled(builder.build(), problem, Op::sum);
  }

  std::vector<std::unique_ptr<Links>> links_;
  std::vector<int> locals_{0, 1};
  std::vector<CompiledPlan> plans_;
  std::unique_ptr<ShmPort> receiver_;
};

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(i % 251);
  return data;
}

TEST_F(TwoEnds, OneLookTakesAllShortMessages) {
  const std::vector<std::byte> data = numbered(200);
  begin(data.data(), 200);
  EXPECT_EQ(look(), 2);
  EXPECT_EQ(received_, data);
}

/// What waits for the first of them is started, and sent, before the second is taken: another rank may wait for it.
TEST_F(TwoEnds, OneLookTakesOneLongMessage) {
  const std::vector<std::byte> data = numbered(100'000);
  begin(data.data(), 100'000);
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(received_, data);
}

TEST_F(TwoEnds, OneLookTakesOnePieceOfWhatIsReadInPlace) {
  constexpr std::int64_t bytes = 6 * geometry.area_bytes;
  std::byte* const data = heap_->allocate(bytes);
  const std::vector<std::byte> values = numbered(bytes);
  std::ranges::copy(values, data);
  begin(data, bytes);
  for (unsigned pieces = 1; pieces <= 6; ++pieces) {
    EXPECT_EQ(look(), pieces % 3 == 0 ? 1 : 0);
    EXPECT_EQ(counters_.in_place, pieces);
    sender_->advance();
  }
  EXPECT_EQ(received_, values);
  EXPECT_TRUE(sender_->advance());
  heap_->deallocate(data);
}

TEST_F(TwoEnds, WhatIsShortIsCopiedNotLent) {
  std::byte* const data = heap_->allocate(8192);
  const std::vector<std::byte> values = numbered(8192);
  std::ranges::copy(values, data);
  begin(data, 8192);
  EXPECT_EQ(look() + look(), 2);
  EXPECT_EQ(counters_.in_place, 0U);
  EXPECT_EQ(received_, values);
  heap_->deallocate(data);
}

/// Rank 0 receives A, which it sends back, and B, which it combines. While it combines B rank 1 already has A.
TEST_F(TwoEnds, WhatALongMessageMadeReadyGoesFirst) {
  constexpr std::int64_t part = 50'000;
  struct Peer {
    Execution<ShmPort>* run;
    const std::vector<std::byte>* has;
    std::vector<std::byte> wants;
    bool had_all_in_time;
  } peer{};
  const auto combine = [](const void* lhs, const void*, void* into, Count count, void* context) {
    Peer& at = *static_cast<Peer*>(context);
    at.run->advance();
    at.had_all_in_time = *at.has == at.wants;
    std::memcpy(into, lhs, static_cast<std::size_t>(count.value()));
  };
  const Op op = Op::user(combine, Commutative::yes, &peer);
  const auto plan_of = [&](int me) {
    const Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{2 * part}};
    ScheduleBuilder builder{problem};
    const auto half = [&](Region all, int i) { return Region{all.buffer, Count{i * part}, Count{part}}; };
    if (me == 0) {
      const Region room = builder.scratch(Count{part});
      builder.recv(half(builder.output(), 0), Rank{1});
      builder.send(half(builder.output(), 0), Rank{1});
      builder.recv(room, Rank{1});
      builder.reduce(room, half(builder.input(), 1), half(builder.output(), 1));
    } else {
      builder.send(half(builder.input(), 0), Rank{0});
      builder.send(half(builder.input(), 1), Rank{0});
      builder.recv(half(builder.output(), 0), Rank{0});
    }
    return compiled(builder.build(), problem, op);
  };
  const CompiledPlan plans[] = {plan_of(0), plan_of(1)};
  const std::vector<std::byte> data = numbered(2 * part);
  std::vector<std::byte> mine(2 * part), theirs(2 * part);
  Execution<ShmPort> here{plans[0], ShmPort{route_of(0), plans[0]}}, there{plans[1], ShmPort{route_of(1), plans[1]}};
  peer = {&there, &theirs, data, false};
  std::fill(peer.wants.begin() + part, peer.wants.end(), std::byte{0});
  const auto begin = [&](Execution<ShmPort>& run, std::vector<std::byte>& out) {
    run.bind(data.data(), out.data());
    run.port().begin(0, 0);
    run.begin();
  };
  begin(here, mine);
  EXPECT_FALSE(here.advance());
  begin(there, theirs);
  EXPECT_FALSE(there.advance());
  EXPECT_TRUE(here.advance());
  EXPECT_TRUE(peer.had_all_in_time);
  EXPECT_EQ(mine, data);
}

/// The last piece is too short to be lent.
TEST_F(TwoEnds, LentPiecesAndACopiedOne) {
  constexpr std::int64_t bytes = 2 * (geometry.area_bytes + 1000);
  std::byte* const data = heap_->allocate(bytes);
  const std::vector<std::byte> values = numbered(bytes);
  std::ranges::copy(values, data);
  begin(data, bytes);
  int over = 0;
  for (int looks = 0; over < 2 && looks < 20; ++looks) {
    over += look();
    sender_->advance();
  }
  EXPECT_EQ(over, 2);
  EXPECT_EQ(counters_.in_place, 2U);
  EXPECT_EQ(received_, values);
  EXPECT_TRUE(sender_->advance());
  heap_->deallocate(data);
}

}  // namespace
}  // namespace tutti::shm
