// The protocol of shared memory between threads as ranks: every byte of every message, with random delays. Also run
// under ThreadSanitizer.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "lib/memory/aligned_buffer.hpp"
#include "tests/shm/shm_threads.hpp"

namespace tutti::shm::test {
namespace {

/// Small messages and areas, so that there are many of them.
Geometry usual() {
  Geometry geometry;
  geometry.inline_bytes = 256;
  geometry.area_bytes = 1024;
  return geometry;
}

/// The least that the protocol can live with: everything runs out all the time.
Geometry least() {
  Geometry geometry;
  geometry.lanes = 1;
  geometry.swap_slots = 1;
  geometry.ring_slots = 1;
  geometry.pool = 1;
  geometry.slack = 0;
  geometry.published = 1;
  geometry.inline_bytes = 40;
  geometry.area_bytes = 256;
  return geometry;
}

std::vector<Stream> every_stream(const Geometry& geometry) {
  std::vector<Stream> streams;
  for (int lane = 0; lane < geometry.lanes; ++lane) {
    streams.push_back({lane, Way::swap});
    streams.push_back({lane, Way::ring});
  }
  return streams;
}

/// A writer may lose its processor between two lines.
TEST(Lines, AreReadOnceAllOfThemAreThere) {
  constexpr std::size_t bytes = in_first_line + Line::capacity + 1;
  std::array<Line, 3> lines{};
  std::array<std::byte, bytes> data{}, arrived{};
  fill(data.data(), 1, bytes);
  pack(lines.data(), 7, {.bytes = bytes}, data.data(), bytes);
  for (const std::size_t late : {1, 2}) {
    lines.at(late).flag = 6;
    EXPECT_FALSE(unpack(lines.data(), 7, arrived.data(), bytes)) << "line " << late << " is still to come";
    lines.at(late).flag = 7;
  }
  EXPECT_TRUE(unpack(lines.data(), 7, arrived.data(), bytes));
  EXPECT_EQ(arrived, data);
}

/// Both ends of a pair's memory, for areas of the default geometry.
class Areas : public testing::Test {
 protected:
  struct Passed {
    int area;
    bool was_cold;
  };
  static Passed pass(Channel& from, Channel& to) {
    const Stream stream{0, Way::ring};
    const int area = from.take_area(0, 1);
    EXPECT_TRUE(area >= 0 && from.may_send(stream));
    const bool was_cold = from.is_cold(area);
    from.send_area(stream, {}, area, 0);
    to.release(stream, to.incoming(stream).envelope());
    return {area, was_cold};
  }

  const Geometry geometry_{};
  AlignedBuffer pair_ = zeros(static_cast<std::size_t>(geometry_.pair_bytes()));
  Publisher publisher_{geometry_, nullptr};
  Channel left_{geometry_, pair_.data(), 0, nullptr, publisher_};
  Channel right_{geometry_, pair_.data(), 1, nullptr, publisher_};

 private:
  static AlignedBuffer zeros(std::size_t bytes) {
    AlignedBuffer buffer{bytes};
    std::memset(buffer.data(), 0, bytes);
    return buffer;
  }
};

/// Of the areas that it may write, a side knows which the other was the last to read.
TEST_F(Areas, AreKnownToBeCold) {
  for (int i = 0; i < geometry_.pool; ++i)
    EXPECT_FALSE(pass(left_, right_).was_cold) << "nobody has read it";
  EXPECT_TRUE(pass(left_, right_).was_cold) << "the other side gave it back, as it has gained enough";
  for (int i = 0; i < geometry_.slack; ++i)
    EXPECT_FALSE(pass(right_, left_).was_cold) << "read last by the side that writes it";
  EXPECT_FALSE(pass(left_, right_).was_cold) << "gained back";
}

/// Many short pieces may be on their way, few long ones: the reserve is theirs, too.
TEST_F(Areas, AreHalfForShortPieces) {
  constexpr std::size_t longest_short = Geometry::short_bytes, at_least_long = longest_short + 1;
  for (int i = 0; i < geometry_.pool / 2; ++i)
    EXPECT_LT(left_.take_area(0, at_least_long), 2 * geometry_.pool);
  EXPECT_EQ(left_.take_area(0, at_least_long), geometry_.reserve_of(0, 0));
  EXPECT_EQ(left_.take_area(0, at_least_long), -1);
  for (int i = geometry_.pool / 2; i < geometry_.pool; ++i)
    EXPECT_LT(left_.take_area(0, longest_short), 2 * geometry_.pool);
  EXPECT_EQ(left_.take_area(0, longest_short), -1);
}

/// However many pieces went which way before.
TEST_F(Areas, ShortPiecesHaveTheRoomThatPlansCountOn) {
  for (int before = 0; before < 3 * geometry_.pool; ++before) {
    static_cast<void>(before % 3 == 0 ? pass(left_, right_) : pass(right_, left_));
    Channel sender{left_};
    for (int i = 0; i < geometry_.ring_room(); ++i)
      EXPECT_GE(sender.take_area(0, Geometry::short_bytes), 0) << "piece " << i << " after " << before;
  }
}

/// However often the direction changes, a side that only sends has areas to send in besides the reserve.
TEST_F(Areas, ComeBackToASideThatOnlyReceivedBefore) {
  for (int turn = 0; turn < 4; ++turn)
    for (int i = 0; i < 20; ++i) {
      const int area = turn % 2 == 0 ? pass(left_, right_).area : pass(right_, left_).area;
      EXPECT_LT(area, 2 * geometry_.pool) << "piece " << i << " of turn " << turn << " needs the reserve";
    }
}

/// Every third message is refused from some byte on. What the sender hears is of this message, and its data may change.
TEST_F(Areas, ExposedMessagesAreReadOrRefused) {
  constexpr Stream stream{0, Way::ring};
  constexpr std::uint64_t messages = 20'000;
  constexpr std::size_t bytes = 200;
  const auto refused_from = [](std::uint64_t n) { return n % 3 == 0 ? static_cast<std::int64_t>(n) : -1; };
  std::uint64_t corrupted = 0, misheard = 0;
  std::thread reader([&] {
    for (std::uint64_t n = 0; n < messages; ++n) {
      while (!right_.incoming(stream).is_there())
        std::this_thread::yield();
      const Channel::Incoming incoming = right_.incoming(stream);
      const Envelope came = incoming.envelope();
      const auto* const data = reinterpret_cast<const std::byte*>(static_cast<std::intptr_t>(incoming.loan().source));
      if (came.area != Envelope::exposed || came.message != n || !is_filled(data, mix(1, n), bytes)) ++corrupted;
      if (refused_from(n) >= 0) right_.refuse(0, refused_from(n));
      right_.release(stream, came);
    }
  });
  std::vector<std::byte> data(bytes);
  for (std::uint64_t n = 0; n < messages; ++n) {
    fill(data.data(), mix(1, n), bytes);
    while (!left_.may_send(stream))
      std::this_thread::yield();
    const std::uint64_t loan = left_.expose(stream, {0, 0, static_cast<std::uint32_t>(n)}, data.data());
    while (!left_.has_read(0, loan))
      std::this_thread::yield();
    misheard += left_.refused_from(0) == refused_from(n) ? 0 : 1;
  }
  reader.join();
  EXPECT_EQ(corrupted, 0);
  EXPECT_EQ(misheard, 0);
}

class Protocol : public testing::TestWithParam<Geometry> {
 protected:
  Outcome expect_intact(int ranks, const Load& load) {
    const Outcome outcome = run_threads(GetParam(), ranks, load);
    EXPECT_EQ(outcome.corrupted, 0) << "of " << outcome.messages;
    const auto among = static_cast<std::uint64_t>(ranks * (ranks - 1) / (load.is_one_sided ? 2 : 1));
    const auto publishers = static_cast<std::uint64_t>(load.is_one_sided ? 1 : ranks);
    const std::uint64_t expected = among * load.streams.size() * load.messages +
                                   publishers * load.publications * static_cast<std::uint64_t>(ranks - 1);
    EXPECT_EQ(outcome.messages, expected);
    return outcome;
  }
};

TEST_P(Protocol, SwappedSlots) {
  expect_intact(2, {.streams = {{0, Way::swap}}, .messages = 30'000, .most_bytes = GetParam().inline_bytes});
}

TEST_P(Protocol, Rings) {
  Load load{.streams = {{0, Way::ring}}, .messages = 30'000, .most_bytes = GetParam().inline_bytes};
  expect_intact(2, load);
  load.is_one_sided = true;
  expect_intact(2, load);
}

TEST_P(Protocol, Areas) {
  Load load{.streams = {{0, Way::ring}}, .messages = 10'000, .most_bytes = GetParam().area_bytes};
  expect_intact(2, load);
  load.streams = {{0, Way::swap}};
  expect_intact(2, load);
}

TEST_P(Protocol, AreasThatAreAllSentOneWayComeBack) {
  const Outcome outcome = expect_intact(
      2, {.streams = {{0, Way::ring}}, .messages = 10'000, .most_bytes = GetParam().area_bytes, .is_one_sided = true});
  EXPECT_GT(outcome.given_back, 500);
}

TEST_P(Protocol, PublishedToManyReaders) {
  expect_intact(4, {.streams = {}, .is_one_sided = true, .publications = 4'000});
  expect_intact(3, {.streams = {}, .publications = 2'000});
}

TEST_P(Protocol, EverythingAtOnce) {
  expect_intact(3, {.streams = every_stream(GetParam()),
                    .messages = 4'000,
                    .most_bytes = GetParam().area_bytes,
                    .publications = 1'000});
}

INSTANTIATE_TEST_SUITE_P(Geometries, Protocol, testing::Values(usual(), least()),
                         [](const auto& geometry) { return geometry.param.lanes == 1 ? "least" : "usual"; });

}  // namespace
}  // namespace tutti::shm::test
