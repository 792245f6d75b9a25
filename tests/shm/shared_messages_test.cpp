// Messages that both ranks copy: what each of them does, and what happens if one of them cannot.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/shm/shared_message.hpp"

namespace tutti::shm {
namespace {

class Shared : public SharedMessage {
 protected:
  static CompiledPlan plan_of(int me) {
    Problem problem{.rank = Rank{me}, .size = ranks, .count = Count{bytes}};
    problem.collective = Collective::broadcast;
    ScheduleBuilder builder{problem};
    if (me == 0) builder.recv(builder.output(), Rank{1});
    if (me == 1) builder.send(builder.output(), Rank{0});
    return compiled(builder.build(), problem, Op::sum);
  }
  Shared() : SharedMessage(plan_of) {}
};

TEST_F(Shared, IsCopiedByBoth) {
  for (int times = 0; times < 3; ++times) {
    std::ranges::fill(target_, std::byte{0});
    receive(target_.data());
    send(data_.data());
    EXPECT_FALSE(is_received());
    EXPECT_TRUE(std::equal(data_.begin(), data_.begin() + bytes / 2, target_.begin()));
    EXPECT_EQ(target_.back(), std::byte{0}) << "that is the sender's part";
    EXPECT_FALSE(is_sent());
    EXPECT_EQ(target_.back(), data_.back());
    EXPECT_TRUE(is_received());
    EXPECT_TRUE(is_sent());
    EXPECT_EQ(target_, data_);
  }
  EXPECT_EQ(counters_.single_copies, 3U);
  EXPECT_EQ(counters_.shared_copies, 3U);
  EXPECT_EQ(counters_.refused, 0U);
}

/// It was said where it belongs when the receive was posted.
TEST_F(Shared, IsWrittenByItsSenderWhileTheReceiverDoesOtherThings) {
  receive(target_.data());
  send(data_.data());
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(target_.back(), data_.back());
  EXPECT_EQ(target_.front(), data_.front());
  target_.front() = std::byte{9};
  end();
  EXPECT_EQ(target_, data_) << "the first half is the receiver's";
}

TEST_F(Shared, IsReadByItsReceiverWhileTheSenderDoesOtherThings) {
  send(data_.data());
  receive(target_.data());
  bool over = false;
  for (int looks = 0; looks < 20; ++looks)
    over = over || is_received();
  EXPECT_TRUE(over);
  EXPECT_EQ(target_, data_);
  EXPECT_EQ(counters_.shared_copies, 0U);
  end(true);
}

TEST_F(Shared, IsReadAloneIfItsSenderMayNotWrite) {
  links_[1]->wishes(0).can_write(false);
  receive(target_.data());
  send(data_.data());
  EXPECT_TRUE(is_received()) << "all of it at once";
  EXPECT_TRUE(is_sent());
  EXPECT_EQ(target_, data_);
  EXPECT_EQ(counters_.single_copies, 1U);
  EXPECT_EQ(counters_.shared_copies, 0U);
}

/// The system lets the sender write at first, but not there.
TEST_F(Shared, IsReadAloneOnceItsSenderCouldNotWrite) {
  auto* const pages =
      static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  receive(pages);
  send(data_.data());
  EXPECT_FALSE(is_received());
  EXPECT_EQ(::mprotect(pages, bytes, PROT_READ), 0);
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(::mprotect(pages, bytes, PROT_READ | PROT_WRITE), 0);
  end();
  EXPECT_TRUE(std::equal(data_.begin(), data_.end(), pages));
  EXPECT_EQ(counters_.single_copies, 1U);
  EXPECT_EQ(counters_.shared_copies, 0U);
  receive(target_.data());
  send(data_.data());
  EXPECT_TRUE(is_received()) << "it is not tried again";
  end(true);
  EXPECT_EQ(target_, data_);
  ::munmap(pages, bytes);
}

/// The receiver cannot read its part: the sender must be done with its own before all of it is staged.
TEST_F(Shared, IsStagedOnceItsSenderHasWritten) {
  auto* const pages =
      static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::ranges::copy(data_, pages);
  receive(target_.data());
  send(pages);
  SharedCopy writing = copy();
  const SharedCopy::Part part = writing.take_last();
  EXPECT_GT(part.bytes, 0);
  EXPECT_EQ(::mprotect(pages, bytes, PROT_NONE), 0);
  std::atomic<bool> has_written{false};
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    has_written = true;
    writing.has_written();
  });
  EXPECT_FALSE(is_received());
  EXPECT_TRUE(has_written);
  late.join();
  EXPECT_EQ(::mprotect(pages, bytes, PROT_READ), 0);
  EXPECT_EQ(counters_.refused, 1U);
  end();
  EXPECT_EQ(target_, data_);
  EXPECT_EQ(counters_.single_copies, 0U);
  ::munmap(pages, bytes);
}

/// Where a message belongs was said in vain: what follows must not be written there.
TEST_F(Shared, IsNotWrittenWhereAStagedOneBelonged) {
  links_[0]->wishes(1).can_read(false);  // known to the sender, too
  receive(target_.data());
  links_[0]->wishes(1).can_read(true);
  links_[0]->wishes(1).can_read(false);
  send(data_.data());
  end();
  EXPECT_EQ(target_, data_);
  EXPECT_EQ(counters_.single_copies, 0U);
  links_[0]->wishes(1).can_read(true);
  std::vector<std::byte> next(bytes);
  std::ranges::fill(target_, std::byte{0});
  send(data_.data());
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(std::ranges::count(target_, std::byte{0}), bytes);
  receive(next.data());
  end();
  EXPECT_EQ(next, data_);
  EXPECT_EQ(std::ranges::count(target_, std::byte{0}), bytes);
}

/// It was exposed for another plan's receive: with this one nothing may be read there, nor written.
TEST_F(Shared, IsNotWrittenIfItsReceiverHasToRefuseIt) {
  receivers_.steps[0].forward = 0;
  receive(target_.data());
  send(data_.data());
  EXPECT_FALSE(is_received());
  EXPECT_EQ(copy().opened_as(), std::nullopt);
}

/// The receiver has failed: its buffer is the program's again.
TEST_F(Shared, IsNotWrittenOnceItsReceiverHasGivenUp) {
  receive(target_.data());
  send(data_.data());
  receiver_.abandon();
  EXPECT_FALSE(is_sent());
  EXPECT_EQ(std::ranges::count(target_, std::byte{0}), bytes);
}

}  // namespace
}  // namespace tutti::shm
