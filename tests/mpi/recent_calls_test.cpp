// Calls that repeat an earlier one are not checked again: which calls do, and that the results are right with any calls
// between two of them.
#include "lib/core/run/recent_calls.hpp"

#include <array>
#include <numeric>
#include <random>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

class Recent : public testing::Test {
 protected:
  struct Entry {
    int call = 0;
    const int* plan = nullptr;
  };
  /// Whether a call was known; it is from now on. All have the same place.
  bool knows(int call) {
    static constexpr int plan = 0;
    const auto [entry, is_it] = calls_.find({7}, [&](const Entry& earlier) { return earlier.call == call; });
    if (!is_it) entry = {call, &plan};
    return is_it;
  }
  detail::RecentCalls<Entry> calls_;
};

TEST_F(Recent, FourOfASetAreKnown) {
  for (const bool known : {false, true, true})
    for (const int call : {1, 2, 3, 4})
      EXPECT_EQ(knows(call), known) << call;
  EXPECT_EQ(calls_.found(), 8U);
}

TEST_F(Recent, TheOldestGivesWay) {
  for (const int call : {1, 2, 3, 4, 5})
    EXPECT_FALSE(knows(call));
  for (const int call : {2, 3, 4, 5})
    EXPECT_TRUE(knows(call)) << call;
  EXPECT_FALSE(knows(1));
  EXPECT_FALSE(knows(2));
}

TEST_F(Recent, NothingIsKnownOnceItIsForgotten) {
  EXPECT_FALSE(knows(1));
  calls_.forget();
  EXPECT_FALSE(knows(1));
}

/// Calls that differ in one respect or two, all on the same few buffers.
class Calls {
 public:
  explicit Calls(const Communicator& comm) : comm_(comm) {}

  static constexpr int kinds = 15;
  void make(int kind) {
    std::iota(in_.begin(), in_.end(), std::int64_t{100} * rank_ + ++made_);
    out_.assign(out_.size(), -1);
    switch (kind) {
      case 0:
        return reduced(Op::sum, 3, in_.data(), out_.data());
      case 1:
        return reduced(Op::sum, 3, in_.data(), out_.data() + 1);
      case 2:
        return reduced(Op::max, 3, in_.data(), out_.data());
      case 3:
        return reduced(Op::sum, 3, in_.data(), out_.data(), "ring");
      case 4:
        return reduced(Op::sum, static_cast<std::size_t>(made_ % 16), in_.data(), out_.data());
      case 14:
        return reduced_in_halves(static_cast<std::size_t>(made_ % 16));
      case 5:
        out_ = in_;
        return reduced(Op::sum, 3, MPI_IN_PLACE, out_.data());
      case 6:
      case 7:
        return sent_on(kind - 6);
      case 8:
      case 9:
        return gathered(Rank{kind % size_});
      case 10:
      case 11:
        return gathered_unevenly(kind - 10);
      default:
        return from_root(Rank{kind % size_});
    }
  }

 private:
  [[nodiscard]] std::int64_t given(int rank, std::size_t i) const {
    return std::int64_t{100} * rank + made_ + static_cast<std::int64_t>(i);
  }
  void reduced(const Op& op, std::size_t count, const void* in, std::int64_t* out, std::string_view algorithm = {}) {
    allreduce(in, out, Count{count}, Type::int64, op, comm_, {.algorithm = algorithm});
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t sum = 0;
      for (int rank = 0; rank < size_; ++rank)
        sum += given(rank, i);
      EXPECT_EQ(out[i], op == Op::max ? given(size_ - 1, i) : sum) << i << " of " << count;
    }
  }
  /// A call of another type, on the same buffers: small numbers are two halves of which one is 0.
  void reduced_in_halves(std::size_t halves) {
    allreduce(in_.data(), out_.data(), Count{halves}, Type::int32, Op::sum, comm_);
    for (std::size_t i = 0; i < halves / 2; ++i)
      EXPECT_EQ(out_[i], size_ * given(0, i) + std::int64_t{50} * size_ * (size_ - 1));
  }
  void sent_on(int more) {
    const Rank next{(rank_ + 1) % size_}, previous{(rank_ + size_ - 1) % size_};
    const Count count{2 + more};
    sendrecv(in_.data(), count, next, out_.data(), count, previous, Type::int64, comm_);
    for (std::size_t i = 0; i < 2 + static_cast<std::size_t>(more); ++i)
      EXPECT_EQ(out_[i], given(previous.value(), i));
  }
  void gathered(Rank root) {
    gather(in_.data(), out_.data(), Count{2}, Type::int64, root, comm_);
    if (comm_.rank() != root) return;
    for (int rank = 0; rank < size_; ++rank)
      EXPECT_EQ(out_[2 * static_cast<std::size_t>(rank) + 1], given(rank, 1));
  }
  /// The lists are in the same place every time, with different contents.
  void gathered_unevenly(int kind) {
    std::vector<Count> offsets;
    for (int rank = 0; rank < size_; ++rank) {
      counts_[static_cast<std::size_t>(rank)] = Count{1 + (rank + kind) % 2};
      offsets.emplace_back(2 * rank + kind);
    }
    const std::span<const Count> counts{counts_.data(), static_cast<std::size_t>(size_)};
    const Rank root{0};
    gatherv(in_.data(), counts[static_cast<std::size_t>(rank_)], out_.data(), {counts, offsets}, Type::int64, root,
            comm_);
    if (comm_.rank() != root) return;
    for (int rank = 0; rank < size_; ++rank)
      EXPECT_EQ(out_[static_cast<std::size_t>(2 * rank + kind)], given(rank, 0));
  }
  void from_root(Rank root) {
    broadcast(in_.data(), Count{2}, Type::int64, root, comm_);
    EXPECT_EQ(in_[1], given(root.value(), 1));
  }

  const Communicator& comm_;
  int rank_ = world_rank(), size_ = world_size();
  std::int64_t made_ = 0;
  std::vector<std::int64_t> in_ = std::vector<std::int64_t>(32), out_ = in_;
  std::array<Count, 8> counts_{};
};

/// Four are always known, wherever the buffers are. The first round makes plans, the second finds them.
TEST(CallsInTurn, AreAllKnown) {
  const Communicator comm{MPI_COMM_WORLD};
  Calls calls{comm};
  const auto found = [&] {
    return comm.state().plans().recent_calls().found() + comm.state().plans().recent_messages().found();
  };
  for (const auto& kinds : {std::vector{0, 1, 2, 3}, std::vector{6, 7}, std::vector{5, 8, 12, 6}}) {
    std::uint64_t before = 0;
    for (int round = 0; round < 3; ++round) {
      before = found();
      for (const int kind : kinds)
        calls.make(kind);
    }
    EXPECT_EQ(found() - before, kinds.size()) << "of kind " << kinds[0] << " and others";
  }
}

TEST(CallsInTurn, AreRightInAnyOrder) {
  for (const char* kept : {"256", "3"}) {  // with few, plans are dropped that calls refer to
    const Setting plans{"TUTTI_PLAN_CACHE", kept};
    const Communicator comm{MPI_COMM_WORLD};
    Calls calls{comm};
    std::minstd_rand random{1};
    for (int i = 0; i < 3000; ++i)
      calls.make(static_cast<int>(random() % Calls::kinds));
  }
}

}  // namespace
}  // namespace tutti::test
