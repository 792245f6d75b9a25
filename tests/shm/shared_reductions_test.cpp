// Messages that both ranks reduce.
#include <sys/mman.h>

#include <algorithm>

#include "lib/schedule/passes.hpp"
#include "tests/shm/shared_message.hpp"

namespace tutti::shm {
namespace {

void add(const void* lhs, const void* rhs, void* into, Count count, void* /*context*/) {
  for (std::int64_t i = 0; i < count.value(); ++i)
    static_cast<std::uint8_t*>(into)[i] =
        static_cast<std::uint8_t>(static_cast<const std::uint8_t*>(lhs)[i] + static_cast<const std::uint8_t*>(rhs)[i]);
}

/// The parameter: whether the message is the left operand.
class SharedReduction : public SharedMessage, public testing::WithParamInterface<bool> {
 protected:
  static CompiledPlan plan_of(int me, bool lands_left, const Op& op) {
    Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes}};
    problem.collective = Collective::reduce;
    ScheduleBuilder builder{problem};
    if (me == 1) builder.send(builder.input(), Rank{0});
    if (me == 0) {
      const Region room = builder.scratch(Count{bytes});
      builder.recv(room, Rank{1});
      builder.reduce(lands_left ? room : builder.input(), lands_left ? builder.input() : room, builder.output());
    }
    return compiled(fused(builder.build()), problem, op);
  }
  explicit SharedReduction(const Op& op = Op::sum)
      : SharedMessage([op](int me) { return plan_of(me, GetParam(), op); }) {
    links_[0]->wishes(1).wish({.call = static_cast<int>(Collective::reduce), .size = 19}, true);
  }

  [[nodiscard]] Operands operands(std::byte* mine, std::byte* into) {
    return GetParam() ? Operands{room_.data(), mine, into} : Operands{mine, room_.data(), into};
  }
  std::vector<std::byte> sums() const {
    std::vector<std::byte> all(bytes);
    add(data_.data(), mine_.data(), all.data(), Count{bytes}, nullptr);
    return all;
  }
  std::vector<std::byte> mine_ = std::vector<std::byte>(bytes, std::byte{7}), room_ = std::vector<std::byte>(bytes);
};
class SharedUserReduction : public SharedReduction {
 protected:
  SharedUserReduction() : SharedReduction(Op::user(add, Commutative{true})) {}
};

TEST_P(SharedReduction, IsDoneByBoth) {
  receive_and_reduce(operands(mine_.data(), target_.data()));
  send(data_.data());
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(target_.front(), std::byte{0}) << "that is the receiver's part";
  EXPECT_EQ(target_.back(), sums().back());
  end();
  EXPECT_EQ(target_, sums());
  EXPECT_EQ(counters_.single_copies, 1U);
  EXPECT_EQ(counters_.shared_copies, 1U);
}

/// The receiver's operand is gone where the sender wants it; then not.
TEST_P(SharedReduction, IsDoneAloneOnceTheSenderCannot) {
  auto* const pages =
      static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::ranges::copy(mine_, pages);
  receive_and_reduce(operands(pages, target_.data()));
  send(data_.data());
  EXPECT_EQ(::mprotect(pages, bytes, PROT_NONE), 0);
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(::mprotect(pages, bytes, PROT_READ), 0);
  end();
  EXPECT_EQ(target_, sums());
  EXPECT_EQ(counters_.single_copies, 1U);
  EXPECT_EQ(counters_.shared_copies, 0U);
  ::munmap(pages, bytes);
}

/// What was done before must not count twice.
TEST_P(SharedReduction, IsStagedIfTheReceiverCannotRead) {
  auto* const pages =
      static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::ranges::copy(data_, pages);
  receive_and_reduce(operands(mine_.data(), target_.data()));
  send(pages);
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(target_.back(), sums().back());
  EXPECT_EQ(::mprotect(pages, bytes, PROT_NONE), 0);
  EXPECT_FALSE(is_received());
  EXPECT_EQ(::mprotect(pages, bytes, PROT_READ), 0);
  end();
  EXPECT_EQ(target_, sums());
  EXPECT_EQ(counters_.refused, 1U);
  ::munmap(pages, bytes);
}

TEST_P(SharedReduction, IsDoneByTheReceiverInPlace) {
  const std::vector<std::byte> expected = sums();
  receive_and_reduce(operands(mine_.data(), mine_.data()));
  send(data_.data());
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(mine_.back(), std::byte{7});
  end();
  EXPECT_EQ(mine_, expected);
  EXPECT_EQ(counters_.single_copies, 1U);
  EXPECT_EQ(counters_.shared_copies, 0U);
}

/// The program's operation may do more than to reduce: only where it always did.
TEST_P(SharedUserReduction, IsDoneByTheReceiver) {
  receive_and_reduce(operands(mine_.data(), target_.data()));
  send(data_.data());
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(target_.back(), std::byte{0});
  end();
  EXPECT_EQ(target_, sums());
  EXPECT_EQ(counters_.single_copies, 1U);
  EXPECT_EQ(counters_.shared_copies, 0U);
}

INSTANTIATE_TEST_SUITE_P(LandsRightOrLeft, SharedReduction, testing::Bool());
INSTANTIATE_TEST_SUITE_P(LandsRightOrLeft, SharedUserReduction, testing::Bool());

}  // namespace
}  // namespace tutti::shm
