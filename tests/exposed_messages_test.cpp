// Messages that are read in the memory of their sender: in what order, and what happens if they cannot be.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "lib/schedule/passes.hpp"
#include "tests/shm_two_ends.hpp"

namespace tutti::shm {
namespace {

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

}  // namespace
}  // namespace tutti::shm
