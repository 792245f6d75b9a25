// Calls of short messages on the fast path: which calls take it, and that the others do not notice.
#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "lib/core/transport/shm/segment/geometry.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

class FastPath : public testing::Test {
 protected:
  using Value = std::int64_t;
  static constexpr std::size_t most = 6000;

  [[nodiscard]] std::uint64_t fast_calls() const { return comm_.counters().at("calls.fast_path"); }
  [[nodiscard]] Rank next() const { return Rank{(rank_ + 1) % size_}; }
  [[nodiscard]] Rank previous() const { return Rank{(rank_ + size_ - 1) % size_}; }
  [[nodiscard]] Value given(int rank) const { return 1000 * Value{rank} + made_; }
  void prepare() {
    ++made_;
    in_.assign(most, given(rank_));
    out_.assign(most, -1);
  }
  [[nodiscard]] Value sum() const { return 500 * Value{size_} * (size_ - 1) + made_ * size_; }
  void expect(const std::vector<Value>& values, std::size_t count, Value value) const {
    EXPECT_EQ(values[0], count > 0 ? value : -1) << "call " << made_;
    EXPECT_EQ(values[count], -1);
    if (count > 0) {
      EXPECT_EQ(values[count - 1], value) << "call " << made_;
    }
  }

  void reduce_all(std::size_t count, const Op& op = Op::sum) {
    prepare();
    allreduce(in_.data(), out_.data(), Count{count}, Type::int64, op, comm_);
    expect(out_, count, sum());
  }
  void pass_on(std::size_t count) {
    prepare();
    sendrecv(in_.data(), Count{count}, next(), out_.data(), Count{count}, previous(), Type::int64, comm_);
    expect(out_, count, given(previous().value()));
  }
  void from_root(Rank root, std::size_t count) {
    prepare();
    std::vector<Value> values(count + 1, rank_ == root.value() ? given(rank_) : -1);
    values[count] = -1;
    broadcast(values.data(), Count{count}, Type::int64, root, comm_);
    expect(values, count, given(root.value()));
  }
  void reduce_all_by_request(std::size_t count) {
    prepare();
    allreduce_async(in_.data(), out_.data(), Count{count}, Type::int64, Op::sum, comm_).wait();
    expect(out_, count, sum());
  }
  void reduce_all_by_tests(std::size_t count) {
    prepare();
    Request request = allreduce_async(in_.data(), out_.data(), Count{count}, Type::int64, Op::sum, comm_);
    while (!request.test()) {
    }
    expect(out_, count, sum());
  }
  void reduce_all_by_plan(Plan& plan, std::size_t count) {
    prepare();
    plan.start();
    plan.wait();
    expect(out_, count, sum());
  }
  /// Requests that are under way while other calls are made.
  template <class Between>
  void while_requested(std::size_t count, const Between& between) {
    prepare();
    std::vector<Value> sums(count + 1, -1), passed(count + 1, -1);
    const std::vector<Value> mine(count, given(rank_));
    const Value sum = this->sum(), of_previous = given(previous().value());
    Request received = recv_async(passed.data(), Count{count}, Type::int64, previous(), comm_);
    Request reduced = allreduce_async(mine.data(), sums.data(), Count{count}, Type::int64, Op::sum, comm_);
    between();
    MPI_Barrier(MPI_COMM_WORLD);  // until then the message is under way on all ranks
    Request sent = send_async(mine.data(), Count{count}, Type::int64, next(), comm_);
    reduced.wait();
    received.wait();
    sent.wait();
    EXPECT_EQ(sums[0], sum);
    EXPECT_EQ(passed[0], of_previous);
  }

  Communicator comm_{MPI_COMM_WORLD};
  int rank_ = world_rank(), size_ = world_size();
  Value made_ = 0;
  std::vector<Value> in_ = std::vector<Value>(most), out_ = in_;
};

/// The last rank that enters a call need not wait; others may give up.
TEST_F(FastPath, TakenByShortMessages) {
  constexpr int calls = 500;
  const auto fast_in = [&](const auto& call) {
    const std::uint64_t before = fast_calls();
    for (int i = 0; i < calls; ++i)
      call();
    std::uint64_t of_all = fast_calls() - before;
    MPI_Allreduce(MPI_IN_PLACE, &of_all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return of_all;
  };
  for (const std::size_t count : {0, 1, 32}) {
    EXPECT_GT(fast_in([&] { reduce_all(count); }), 0U) << count;
    EXPECT_GT(fast_in([&] { from_root(Rank{0}, count); }), 0U) << count;
    if (size_ == 1 || comm_.node_count() > 1) continue;  // each rank of several nodes sends or receives over MPI
    EXPECT_GT(fast_in([&] { pass_on(count); }), 0U) << count;
  }
  EXPECT_GT(fast_in([&] { barrier(comm_); }), 0U);
  Plan plan = plan_allreduce(in_.data(), out_.data(), Count{32}, Type::int64, Op::sum, comm_);
  EXPECT_GT(fast_in([&] { reduce_all_by_plan(plan, 32); }), 0U);
  EXPECT_GT(fast_in([&] { reduce_all_by_request(32); }), 0U);
  if (size_ <= 4) {
    EXPECT_GT(fast_in([&] { reduce_all(170); }), 0U) << "in bounce buffers, a copy for each rank";
  }
  if (size_ == 2) {
    EXPECT_GT(fast_in([&] { reduce_all(1024); }), 0U);
  }
}

void add(const void* lhs, const void* rhs, void* into, Count count, void*) {
  for (std::int64_t i = 0; i < count.value(); ++i)
    static_cast<std::int64_t*>(into)[i] =
        static_cast<const std::int64_t*>(lhs)[i] + static_cast<const std::int64_t*>(rhs)[i];
}

TEST_F(FastPath, NotTakenByLongMessagesAndUsersOperations) {
  if (size_ == 1) return;  // which sends nothing
  const std::uint64_t before = fast_calls();
  reduce_all(5000);
  from_root(Rank{0}, most - 1);
  reduce_all(1, Op::user(add, Commutative::yes));
  EXPECT_EQ(fast_calls(), before);
}

/// Messages that others can read in place should not be copied; short messages are.
TEST_F(FastPath, NotTakenByLentMessages) {
  if (size_ != 2) return;
  constexpr std::size_t count = 1024;
  SharedBuffer<Value> in{count}, out{count};
  const auto counted = [&](std::size_t used) {
    const Counters before = comm_.counters();
    for (int i = 0; i < 300; ++i) {
      std::ranges::fill(in, given(rank_) + i);
      allreduce(in.data(), out.data(), Count{used}, Type::int64, Op::sum, comm_);
      EXPECT_EQ(out[used - 1], sum() + Value{i} * size_);
    }
    const Counters now = comm_.counters();
    std::array<std::uint64_t, 2> of_all{};
    for (const auto& [name, counted] : {std::pair{"calls.fast_path", &of_all[0]}, {"shm.tutti_memory.get", &of_all[1]}})
      *counted = now.at(name) - before.at(name);
    MPI_Allreduce(MPI_IN_PLACE, of_all.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return of_all;
  };
  const auto [long_fast, long_lent] = counted(count);
  EXPECT_EQ(long_fast, 0U);
  EXPECT_GT(long_lent, 0U);
  const auto [short_fast, short_lent] = counted(count / 2);
  EXPECT_GT(short_fast, 0U);
  EXPECT_EQ(short_lent, 0U);
}

/// More messages of a pair than there is room for: if both sent all of them first, they would wait for each other.
TEST_F(FastPath, NotTakenByManyMessagesOfAPair) {
  if (size_ == 1) return;  // which sends nothing
  constexpr std::size_t most = shm::Geometry{}.sure_cells();
  for (const std::size_t messages : {std::size_t{1}, most, most + 1, std::size_t{40}}) {
    const std::uint64_t before = fast_calls();
    std::vector<Value> in(messages, rank_), out(messages, -1);
    Batch batch{comm_};
    for (std::size_t i = 0; i < messages; ++i) {
      batch.send(&in[i], Count{1}, Type::int64, next());
      batch.recv(&out[i], Count{1}, Type::int64, previous());
    }
    for (int i = 0; i < 10; ++i)
      batch.run();
    EXPECT_EQ(out, std::vector<Value>(messages, previous().value()));
    std::uint64_t of_all = fast_calls() - before;
    MPI_Allreduce(MPI_IN_PLACE, &of_all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (comm_.node_count() == 1) {
      EXPECT_EQ(of_all > 0, messages <= most) << messages;
    }
  }
}

/// A request must not wait for the end of the call, which may wait for the request of another rank.
TEST_F(FastPath, NotTakenWhileAnotherOperationIsUnderWay) {
  if (size_ == 1) return;  // which sends nothing
  const std::uint64_t before = fast_calls();
  while_requested(1, [&] {
    for (int i = 0; i < 20; ++i) {
      reduce_all(1);
      from_root(Rank{i % size_}, 1);
    }
    EXPECT_EQ(fast_calls(), before);
  });
}

TEST_F(FastPath, WaitForALateRank) {
  for (int late = 0; late < size_; ++late)
    for (int kind = 0; kind < 3; ++kind) {
      if (rank_ == late) std::this_thread::sleep_for(std::chrono::milliseconds{2});
      if (kind == 0) reduce_all(2);
      if (kind == 1) from_root(Rank{late}, 2);
      if (kind == 2 && size_ > 1) pass_on(2);
    }
}

/// Numbers, lanes and queues stay the same on all ranks, whichever of them took the fast path where.
TEST_F(FastPath, AmongOthersInAnyOrder) {
  std::minstd_rand random{1};
  std::minstd_rand own{static_cast<unsigned>(rank_) + 2};
  constexpr std::size_t counts[] = {0, 1, 2, 32, 33, 512, 513, 5000}, planned = 20;
  Plan plan = plan_allreduce(in_.data(), out_.data(), Count{planned}, Type::int64, Op::sum, comm_);
  const auto any_call = [&] {
    const std::size_t count = counts[random() % std::size(counts)];
    const Rank root{static_cast<int>(random() % static_cast<unsigned>(size_))};
    const auto kind = random() % 7;
    if (own() % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds{100});
    if (kind == 0) barrier(comm_);
    if (kind == 1) reduce_all(count);
    if (kind == 2) from_root(root, count);
    if (kind == 3 && size_ > 1) pass_on(count);
    if (kind == 4) reduce_all_by_plan(plan, planned);
    if (kind == 5) reduce_all_by_request(count);
    if (kind == 6) reduce_all_by_tests(count);
  };
  for (int i = 0; i < 1000; ++i) {
    any_call();
    if (i % 10 == 0 && size_ > 1)
      while_requested(counts[1 + random() % 6], [&] {
        for (int k = 0; k < 3; ++k)
          reduce_all(counts[random() % std::size(counts)]);
      });
  }
}

/// The first of several nonblocking messages takes the fast path, and waits there while the others begin.
TEST_F(FastPath, MessagesKeepTheirOrder) {
  if (size_ == 1) GTEST_SKIP() << "needs two ranks";
  constexpr std::size_t messages = 6;
  std::vector<Value> sent(messages), received(messages, -1);
  for (int round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < messages; ++i)
      sent[i] = given(rank_) + static_cast<Value>(i);
    std::vector<Request> all;
    for (Value& each : received)
      all.push_back(recv_async(&each, Count{1}, Type::int64, previous(), comm_));
    for (const Value& each : sent)
      all.push_back(send_async(&each, Count{1}, Type::int64, next(), comm_));
    for (Request& each : all)
      each.wait();
    for (std::size_t i = 0; i < messages; ++i)
      ASSERT_EQ(received[i], given(previous().value()) + static_cast<Value>(i));
    ++made_;
  }
}

}  // namespace
}  // namespace tutti::test
