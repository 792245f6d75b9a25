// Messages that are read in the memory of their sender: their order, and what happens if they cannot be read.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>

#include "lib/schedule/passes.hpp"
#include "tests/shm/shm_two_ends.hpp"

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
  EXPECT_EQ(counters_.read, 2U);
  EXPECT_EQ(received_, data);
}

/// Others are looked at in between.
TEST_F(Exposed, IsReadAMebibyteAtATime) {
  const std::vector<std::byte> data = numbered(5'000'000);
  begin(data.data(), std::ssize(data));
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(look(), 0);
  EXPECT_EQ(look(), 1);
  EXPECT_EQ(counters_.read, 1U);
}

TEST_F(Exposed, IsNothingShort) {
  const std::vector<std::byte> data = numbered(2 * (8 * 1024 - 1));
  begin(data.data(), std::ssize(data));
  EXPECT_EQ(look() + look(), 2);
  EXPECT_TRUE(sender_->advance());
  EXPECT_EQ(counters_.read, 0U);
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
  EXPECT_EQ(counters_.read, 0U);
  EXPECT_GT(counters_.lent, 0U);
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
  constexpr std::size_t piece = geometry.buffer_bytes;
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
  EXPECT_EQ(counters_.read, 0U);
}

/// The second message. The receiver looks again only once all slots of the ring have been used.
TEST_F(Exposed, IsStagedWholeIfNothingCanBeRead) {
  constexpr std::size_t half = 8 * geometry.buffer_bytes;
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
  EXPECT_EQ(counters_.read, 1U);
}

/// The sender has failed: its buffer may hold anything by now.
TEST_F(Exposed, IsNotReadOnceItsSenderHasGivenUp) {
  std::vector<std::byte> data = numbered(400'000);
  begin(data.data(), std::ssize(data));
  sender_->port().abandon();
  std::ranges::fill(data, std::byte{1});
  EXPECT_EQ(look() + look(), 0);
  EXPECT_EQ(counters_.read, 0U);
  EXPECT_EQ(counters_.refused, 1U);
}

/// An operation that is not commutative.
void three_times_left(const void* lhs, const void* rhs, void* into, Count count, void* /*context*/) {
  for (std::int64_t i = 0; i < count.value(); ++i)
    static_cast<std::uint8_t*>(into)[i] = static_cast<std::uint8_t>(3 * static_cast<const std::uint8_t*>(lhs)[i] +
                                                                    static_cast<const std::uint8_t*>(rhs)[i]);
}

/// Rank 0 reduces its own elements with those that rank 1 sends.
class Reduced : public Exposed {
 protected:
  static constexpr std::int64_t bytes = 8 * geometry.buffer_bytes;

  Reduced() { std::ranges::fill(mine_, std::byte{7}); }

  SharedPlan plan_of(int me, bool lands_left) {
    Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes}};
    problem.collective = Collective::reduce;
    ScheduleBuilder builder{problem};
    if (me == 0) {
      const Region room = builder.scratch(Count{bytes});
      builder.recv(room, Rank{1});
      builder.reduce(lands_left ? room : builder.input(), lands_left ? builder.input() : room, builder.output());
    } else {
      builder.send(builder.input(), Rank{0});
    }
    return compiled(fused(builder.build()), problem, Op::user(three_times_left, Commutative{false}));
  }
  /// `between`: once the receiver has looked for the first time.
  std::vector<std::byte> run(const std::byte* theirs, bool is_in_place, bool lands_left,
                             const std::function<void()>& between) {
    const SharedPlan plans[] = {plan_of(0, lands_left), plan_of(1, lands_left)};
    std::vector<std::byte> input = mine_, output(is_in_place ? 0 : bytes);
    std::byte* const result = is_in_place ? input.data() : output.data();
    Execution<ShmPort> here{plans[0], ShmPort{route_of(0), plans[0]}}, there{plans[1], ShmPort{route_of(1), plans[1]}};
    links_[0]->may_read(1, true);  // a run before may have been refused
    here.bind(input.data(), result);
    there.bind(theirs, nullptr);
    for (Execution<ShmPort>* const each : {&here, &there}) {
      each->port().begin({});
      each->begin();
    }
    bool is_here_over = false, is_there_over = false;
    for (int looks = 0; looks < 40; ++looks) {
      is_there_over = is_there_over || there.advance();
      is_here_over = is_here_over || here.advance();
      if (looks == 0) between();
    }
    EXPECT_TRUE(is_here_over && is_there_over);
    return {result, result + bytes};
  }
  std::vector<std::byte> expected(const std::vector<std::byte>& theirs, bool lands_left) const {
    std::vector<std::byte> sums(bytes);
    const auto& [lhs, rhs] = lands_left ? std::tie(theirs, mine_) : std::tie(mine_, theirs);
    three_times_left(lhs.data(), rhs.data(), sums.data(), Count{bytes}, nullptr);
    return sums;
  }
  std::vector<std::byte> mine_ = std::vector<std::byte>(bytes);
};

TEST_F(Reduced, FromWhereItWasRead) {
  const std::vector<std::byte> theirs = numbered(bytes);
  for (const bool is_in_place : {false, true})
    for (const bool lands_left : {false, true}) {
      counters_ = {};
      EXPECT_EQ(run(theirs.data(), is_in_place, lands_left, [] {}), expected(theirs, lands_left));
      EXPECT_EQ(counters_.read, 1U);
    }
}

/// Of the pieces that were read the last one, of which a part is missing, comes again: it must not count twice.
TEST_F(Reduced, OnceEachIfTheRestIsRefused) {
  constexpr std::size_t piece = geometry.buffer_bytes;
  const std::vector<std::byte> theirs = numbered(bytes);
  for (const auto& [is_in_place, lands_left, from] : {std::tuple{false, false, 2 * piece + piece / 2},
                                                      {false, true, 6 * piece + piece / 2},
                                                      {true, false, 6 * piece + piece / 2},
                                                      {true, true, 2 * piece + piece / 2},
                                                      {true, true, 0 * piece}}) {
    counters_ = {};
    Guarded data(theirs);
    data.forbid(from);
    EXPECT_EQ(run(data.data(), is_in_place, lands_left, [&data = data] { data.allow(); }),
              expected(theirs, lands_left));
    EXPECT_EQ(counters_.refused, 1U);
    EXPECT_EQ(counters_.read, 0U);
  }
}

}  // namespace
}  // namespace tutti::shm
