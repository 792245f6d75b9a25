// A message that two ranks copy: who takes what, alone and with threads as ranks.
#include "lib/transport/shm/rendezvous/shared_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/shm/shm_support.hpp"

namespace tutti::shm {
namespace {

using Kind = SharedCopy::Kind;
using First = SharedCopy::First;
using Part = SharedCopy::Part;

class SharedCopyTest : public testing::Test {
 protected:
  [[nodiscard]] SharedCopy message(std::uint64_t number, std::int64_t bytes) { return {words_.data(), number, bytes}; }
  std::array<std::atomic<std::uint64_t>, SharedCopy::words> words_{};
  std::byte target_{};
};

TEST_F(SharedCopyTest, ServesLongMessagesThatCanBeCounted) {
  EXPECT_FALSE(SharedCopy::serves(64 * 1024 - 1));
  EXPECT_TRUE(SharedCopy::serves(64 * 1024L));
  EXPECT_TRUE(SharedCopy::serves((std::int64_t{1} << 35U) - 1));
  EXPECT_FALSE(SharedCopy::serves(std::int64_t{1} << 35U));
}

TEST_F(SharedCopyTest, IsNotOpenBeforeItsReceiverSaysSo) {
  SharedCopy copy = message(1, 100'000);
  EXPECT_FALSE(copy.opened_as().has_value());
  static_cast<void>(copy.open(Kind::copied, &target_, nullptr, First::none));
  EXPECT_TRUE(copy.opened_as().has_value());
  EXPECT_EQ(copy.target_of(100), reinterpret_cast<std::uintptr_t>(&target_ + 100));
  EXPECT_FALSE(message(2, 100'000).opened_as().has_value()) << "another message";
  EXPECT_FALSE(message(1, 100'001).opened_as().has_value()) << "of another size, which is an error";
  copy.end();
  EXPECT_FALSE(copy.opened_as().has_value());
}

TEST_F(SharedCopyTest, TheFirstHalfIsTheReceiversIfItHasNothingElseToDo) {
  SharedCopy copy = message(1, 128 * 1024L);
  const Part first = copy.open(Kind::copied, &target_, nullptr, First::half);
  EXPECT_EQ(first.begin, 0);
  EXPECT_EQ(first.bytes, 64 * 1024);
  const Part last = copy.take_last();
  EXPECT_EQ(last.begin, 64 * 1024);
  EXPECT_EQ(last.bytes, 64 * 1024);
  EXPECT_EQ(copy.take_first().bytes + copy.take_last().bytes, 0);
  EXPECT_FALSE(copy.is_written());
  copy.has_written();
  EXPECT_TRUE(copy.is_written());
}

/// As where the receiver takes nothing.
TEST_F(SharedCopyTest, IsNotWrittenBeforeAllIsTaken) {
  SharedCopy copy = message(1, 2 << 20);
  static_cast<void>(copy.open(Kind::copied, &target_, nullptr, First::none));
  EXPECT_FALSE(copy.is_written());
  for (std::int64_t left = 2 << 20; left > 0;) {
    EXPECT_FALSE(copy.is_written());
    left -= copy.take_last().bytes;
    EXPECT_FALSE(copy.is_written());
    copy.has_written();
  }
  EXPECT_TRUE(copy.is_written());
}

/// For all sizes around a few units, and in every order of takes.
TEST_F(SharedCopyTest, EveryByteIsTakenOnce) {
  std::uint64_t number = 0;
  for (const std::int64_t bytes : {65'536, 65'537, 69'631, 69'632, 100'001, 1'048'576, 3'000'001, 40'000'000})
    for (std::uint64_t order = 0; order < 64; ++order) {
      SharedCopy copy = message(++number, bytes);
      std::int64_t front = copy.open(Kind::copied, &target_, nullptr, order % 2 == 0 ? First::half : First::none).bytes,
                   back = bytes;
      for (int step = 0; front < back; ++step) {
        const bool is_first = (test::mix(order, static_cast<std::uint64_t>(step)) & 1U) != 0;
        const Part part = is_first ? copy.take_first() : copy.take_last();
        ASSERT_GT(part.bytes, 0);
        ASSERT_LE(part.bytes, std::int64_t{1} << 20U);
        ASSERT_EQ(part.begin, is_first ? front : back - part.bytes);
        (is_first ? front : back) += is_first ? part.bytes : -part.bytes;
      }
      ASSERT_EQ(front, back);
      ASSERT_EQ(copy.take_first().bytes + copy.take_last().bytes, 0);
    }
}

/// The receiver has copied the message alone and opened the next one, of the same size, before its sender looks on.
TEST_F(SharedCopyTest, ALateSenderGetsNothingOfTheNextMessage) {
  SharedCopy before = message(7, 100'000), next = message(8, 100'000);
  static_cast<void>(before.open(Kind::copied, &target_, nullptr, First::none));
  ASSERT_TRUE(before.opened_as().has_value());
  before.close();
  before.end();
  static_cast<void>(next.open(Kind::copied, &target_, nullptr, First::none));
  EXPECT_EQ(before.take_last().bytes, 0);
  EXPECT_EQ(next.take_first().begin, 0);
}

TEST_F(SharedCopyTest, AClosedOneGivesTheSenderNothing) {
  SharedCopy copy = message(1, 1'000'000);
  static_cast<void>(copy.open(Kind::copied, &target_, nullptr, First::half));
  EXPECT_GT(copy.take_last().bytes, 0);
  copy.close();
  EXPECT_EQ(copy.take_last().bytes, 0);
  EXPECT_FALSE(copy.is_written());
  copy.has_written();
  EXPECT_TRUE(copy.is_written());
}

TEST_F(SharedCopyTest, ASenderThatFailsSaysSo) {
  SharedCopy copy = message(1, 1'000'000);
  static_cast<void>(copy.open(Kind::copied, &target_, nullptr, First::half));
  EXPECT_GT(copy.take_last().bytes, 0);
  EXPECT_FALSE(copy.has_failed());
  copy.fails();
  copy.close();
  EXPECT_TRUE(copy.has_failed());
  EXPECT_FALSE(copy.is_written());
  static_cast<void>(message(2, 1'000'000).open(Kind::copied, &target_, nullptr, First::half));
  EXPECT_FALSE(message(2, 1'000'000).has_failed()) << "another message";
}

/// Threads as ranks: who says that its part is there has really written it.
TEST_F(SharedCopyTest, ThreadsCopyEveryMessageWhole) {
  constexpr std::int64_t bytes = 200'000;
  constexpr std::uint64_t messages = 2'000;
  std::vector<std::byte> source(bytes), target(bytes);
  std::atomic<std::uint64_t> sent{0}, received{0};
  std::thread sender([&] {
    for (std::uint64_t number = 1; number <= messages; ++number) {
      test::fill(source.data(), number, bytes);
      sent.store(number, std::memory_order_release);
      SharedCopy copy = message(number, bytes);
      while (received.load(std::memory_order_acquire) < number) {
        if (!copy.opened_as().has_value()) continue;
        const Part part = copy.take_last();
        if (part.bytes == 0) continue;
        ASSERT_EQ(copy.target_of(0), reinterpret_cast<std::uintptr_t>(target.data()));
        std::copy_n(source.data() + part.begin, part.bytes, target.data() + part.begin);
        copy.has_written();
      }
    }
  });
  std::uint64_t helped = 0;
  for (std::uint64_t number = 1; number <= messages; ++number) {
    SharedCopy copy = message(number, bytes);
    Part part = copy.open(Kind::copied, target.data(), nullptr,
                          number % 2 == 0 ? First::half : First::none);  // it may not have been sent
    while (sent.load(std::memory_order_acquire) < number)
      std::this_thread::yield();
    std::int64_t mine = 0;
    for (; part.bytes > 0 || (part = copy.take_first()).bytes > 0; part = {}) {
      std::copy_n(source.data() + part.begin, part.bytes, target.data() + part.begin);
      mine += part.bytes;
    }
    while (!copy.is_written())
      std::this_thread::yield();
    EXPECT_TRUE(test::is_filled(target.data(), number, bytes)) << "message " << number;
    helped += mine < bytes ? 1 : 0;
    copy.end();
    received.store(number, std::memory_order_release);
  }
  sender.join();
  EXPECT_GT(helped, 0U);
}

}  // namespace
}  // namespace tutti::shm
