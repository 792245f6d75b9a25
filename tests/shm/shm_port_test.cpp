// One look at the messages of shared memory: after how much of them it lets others go first.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/shm/shm_support.hpp"
#include "tests/shm/shm_two_ends.hpp"
#include "tutti/error.hpp"

namespace tutti::shm {
namespace {

TEST_F(TwoEnds, OneLookTakesAllShortMessages) {
  const std::vector<std::byte> data = numbered(200);
  begin(data.data(), 200);
  EXPECT_EQ(look(), 2);
  EXPECT_EQ(received_, data);
}

/// Steps that wait for the first message start, and send, before the second is taken: another rank may wait for them.
TEST_F(TwoEnds, OneLookTakesOneLongMessage) {
  const std::vector<std::byte> data = numbered(100'000);
  begin(data.data(), 100'000);
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(received_, data);
}

TEST_F(TwoEnds, OneLookTakesOnePieceOfWhatIsReadInPlace) {
  constexpr std::int64_t bytes = 6 * geometry.buffer_bytes;
  std::byte* const data = heap_->allocate(bytes);
  const std::vector<std::byte> values = numbered(bytes);
  std::ranges::copy(values, data);
  begin(data, bytes);
  for (unsigned pieces = 1; pieces <= 6; ++pieces) {
    EXPECT_EQ(look(), pieces % 3 == 0 ? 1 : 0);
    EXPECT_EQ(counters_.lent, pieces);
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
  EXPECT_EQ(counters_.lent, 0U);
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
  const SharedPlan plans[] = {plan_of(0), plan_of(1)};
  const std::vector<std::byte> data = numbered(2 * part);
  std::vector<std::byte> mine(2 * part), theirs(2 * part);
  Execution<ShmPort> here{plans[0], ShmPort{route_of(0), plans[0]}}, there{plans[1], ShmPort{route_of(1), plans[1]}};
  peer = {&there, &theirs, data, false};
  std::fill(peer.wants.begin() + part, peer.wants.end(), std::byte{0});
  const auto begin = [&](Execution<ShmPort>& run, std::vector<std::byte>& out) {
    run.bind(data.data(), out.data());
    run.port().begin({});
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
  constexpr std::int64_t bytes = 2 * (geometry.buffer_bytes + 1000);
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
  EXPECT_EQ(counters_.lent, 2U);
  EXPECT_EQ(received_, values);
  EXPECT_TRUE(sender_->advance());
  heap_->deallocate(data);
}

/// A message never waits for buffers that other messages hold. Once some are back it uses them again.
TEST_F(TwoEnds, MessagesGoOnInCellsWhileAllBuffersAreInUse) {
  BouncePool& pool = links_[1]->pool();
  std::vector<int> in_use;
  for (int buffer = pool.take(); buffer >= 0; buffer = pool.take())
    in_use.push_back(buffer);
  ASSERT_EQ(in_use.size(), static_cast<std::size_t>(geometry.buffers));
  const std::vector<std::byte> data = numbered(40'000);
  begin(data.data(), std::ssize(data));
  int over = look(), looks = 0;
  for (; over == 0 && looks < 1000; ++looks) {
    sender_->advance();
    over += look();
  }
  EXPECT_GE(looks, 20'000 / geometry.cell_bytes / geometry.cells) << "a ring of cells at a time";
  sender_->advance();  // the second message has begun, in cells, too
  for (const int buffer : in_use)
    pool.drop_reader(buffer);
  for (looks = 0; over < 2 && looks < 1000; ++looks) {
    over += look();
    sender_->advance();
  }
  EXPECT_LT(looks, 10) << "the rest is in a buffer";
  EXPECT_EQ(received_, data);
  EXPECT_TRUE(sender_->advance());
}

/// The number of messages that a sender is sure to have room for, however many were sent and read before.
TEST(Room, IsThereOnceAllHasBeenRead) {
  for (const int cells : {1, 2, 4, 8, 16}) {
    Geometry geometry;
    geometry.cells = cells;
    int least = cells;
    for (int before = 0; before < 2 * cells; ++before) {
      test::Memory memory(geometry.window_bytes(2));
      std::byte* const buffers[] = {memory.data() + geometry.pool_at(2, 0), memory.data() + geometry.pool_at(2, 1)};
      BouncePool low{geometry, buffers[0]}, high{geometry, buffers[1]};
      Channel sender{geometry, memory.data(), 0, buffers[1], low};
      Channel receiver{geometry, memory.data(), 1, buffers[0], high};
      for (int i = 0; i < before; ++i) {
        ASSERT_TRUE(sender.ring(0).may_send());
        sender.ring(0).send({}, nullptr, 0);
        receiver.release(0, {});
      }
      int room = 0;
      for (; sender.ring(0).may_send(); ++room)
        sender.ring(0).send({}, nullptr, 0);
      least = std::min(least, room);
    }
    EXPECT_EQ(least, geometry.sure_cells()) << cells;
  }
}

/// Runs on the fast path of both ends, each broken off where it would have to wait.
class FastPathRuns : public TwoEnds {
 protected:
  static constexpr std::int64_t bytes = 400;
  using Run = Execution<ShmPort>;
  static std::size_t run(Run& run, std::uint64_t sequence) {
    auto never = [] { return false; };
    run.port().begin_fast_path(sequence, 0);
    return run.run_fast_path(never);
  }
  static bool go_on(Run& run, std::uint64_t sequence, std::size_t done) {
    run.port().begin({.sequence = sequence});
    run.begin();
    run.skip(done);
    return run.advance();
  }

  /// The first message alone.
  static SharedPlan plan_of_one(int me) {
    Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes / 2}};
    problem.collective = Collective::gather;
    ScheduleBuilder builder{problem};
    const auto half = [](Region all) { return Region{all.buffer, Count{0}, Count{bytes / 2}}; };
    if (me == 0)
      builder.recv(half(builder.output()), Rank{1});
    else
      builder.send(half(builder.input()), Rank{0});
    return compiled(builder.build(), problem, Op::sum);
  }

  SharedPlan plans_[2] = {plan_of(0, bytes), plan_of(1, bytes)};
  Run receiver_{plans_[0], ShmPort{route_of(0), plans_[0]}}, sender_{plans_[1], ShmPort{route_of(1), plans_[1]}};
  std::vector<std::byte> data_ = numbered(bytes), received_ = std::vector<std::byte>(bytes);

  FastPathRuns() {
    receiver_.bind(nullptr, received_.data());
    sender_.bind(data_.data(), nullptr);
  }
};

TEST_F(FastPathRuns, WaitForWhatIsNotThere) {
  EXPECT_EQ(run(receiver_, 0), 0U);
  EXPECT_EQ(run(sender_, 0), 2U);
  EXPECT_TRUE(go_on(receiver_, 0, 0));
  EXPECT_EQ(received_, data_);
}

/// A ring of four slots, of which the receiver gives two back at a time.
TEST_F(FastPathRuns, GoOnFromTheMiddle) {
  const auto sent_of_one = plan_of_one(1);
  Run one{sent_of_one, ShmPort{route_of(1), sent_of_one}};
  one.bind(data_.data(), nullptr);
  EXPECT_EQ(run(one, 0), 1U);
  EXPECT_EQ(run(sender_, 1), 2U);
  EXPECT_EQ(run(sender_, 2), 1U) << "there is no room for the second";
  const auto received_of_one = plan_of_one(0);
  Run first{received_of_one, ShmPort{route_of(0), received_of_one}};
  first.bind(nullptr, received_.data());
  EXPECT_EQ(run(first, 0), 1U);
  EXPECT_EQ(run(receiver_, 1), 2U);
  EXPECT_EQ(run(receiver_, 2), 1U);
  received_.assign(bytes, {});
  EXPECT_TRUE(go_on(sender_, 2, 1));
  EXPECT_TRUE(go_on(receiver_, 2, 1));
  EXPECT_TRUE(std::equal(data_.begin() + bytes / 2, data_.end(), received_.begin() + bytes / 2));
}

TEST_F(FastPathRuns, LeaveWhatIsNotExpected) {
  EXPECT_EQ(run(sender_, 5), 2U);
  EXPECT_EQ(run(receiver_, 6), 0U);
  EXPECT_THROW(go_on(receiver_, 6, 0), Error);
}

}  // namespace
}  // namespace tutti::shm
