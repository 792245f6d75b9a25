// The protocol of shared memory between threads as ranks: every byte of every message, with random delays. Also run
// under ThreadSanitizer.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>

#include "tests/shm/shm_threads.hpp"

namespace tutti::shm::test {
namespace {

/// Small messages and buffers, so that there are many of them.
Geometry usual() {
  Geometry geometry;
  geometry.cell_bytes = 256;
  geometry.buffer_bytes = 1024;
  return geometry;
}

/// The least that the protocol can live with: everything runs out all the time.
Geometry least() {
  Geometry geometry;
  geometry.lanes = 1;
  geometry.cells = 1;
  geometry.buffers = 1;
  geometry.kept = 0;
  geometry.cell_bytes = 40;
  geometry.buffer_bytes = 256;
  return geometry;
}

std::vector<int> every_lane(const Geometry& geometry) {
  std::vector<int> lanes(static_cast<std::size_t>(geometry.lanes));
  std::iota(lanes.begin(), lanes.end(), 0);
  return lanes;
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

/// Both ends of a pair's memory, with bounce buffers of the default geometry.
class Buffers : public testing::Test {
 protected:
  /// Where the piece was.
  static Where pass(Channel& from, Channel& to, std::size_t bytes = 1) {
    const Bounce bounce = from.take(bytes);
    EXPECT_TRUE(bounce.data != nullptr && from.ring(0).may_send());
    from.send(0, {}, bounce, 0);
    to.release(0, to.ring(0).incoming().envelope());
    return bounce.where;
  }

  const Geometry geometry_{};
  Memory memory_{geometry_.window_bytes(2)};
  std::byte* const left_buffers_ = memory_.data() + geometry_.pool_at(2, 0);
  std::byte* const right_buffers_ = memory_.data() + geometry_.pool_at(2, 1);
  BouncePool left_pool_{geometry_, left_buffers_}, right_pool_{geometry_, right_buffers_};
  Channel left_{geometry_, memory_.data(), 0, right_buffers_, left_pool_};
  Channel right_{geometry_, memory_.data(), 1, left_buffers_, right_pool_};
};

/// The caches of the side that read a buffer last have it.
TEST_F(Buffers, AreKeptToAnswerIn) {
  for (int i = 0; i < geometry_.kept; ++i)
    EXPECT_EQ(pass(left_, right_), Where::bounce);
  EXPECT_EQ(right_.kept(), static_cast<std::size_t>(geometry_.kept));
  EXPECT_EQ(pass(left_, right_), Where::bounce) << "given back, as enough are kept";
  EXPECT_EQ(right_.given_back(), 1U);
  for (int i = 0; i < geometry_.kept; ++i)
    EXPECT_EQ(pass(right_, left_), Where::returned);
  EXPECT_EQ(pass(right_, left_), Where::bounce) << "none is kept any more";
  left_.collect();
  EXPECT_EQ(left_pool_.free(), static_cast<std::size_t>(geometry_.buffers));
}

/// Many short pieces may be on their way, few long ones.
TEST_F(Buffers, AreFewForLongPieces) {
  constexpr std::size_t longest_short = tuning.short_piece, at_least_long = longest_short + 1;
  for (int i = 0; i < tuning.long_pieces; ++i)
    EXPECT_NE(left_.take(at_least_long).data, nullptr);
  EXPECT_EQ(left_.take(at_least_long).data, nullptr);
  for (int i = tuning.long_pieces; i < geometry_.buffers; ++i)
    EXPECT_NE(left_.take(longest_short).data, nullptr);
  EXPECT_EQ(left_.take(longest_short).data, nullptr);
}

/// Buffers come back after any number of pieces each way, also those that a peer keeps, and those of long pieces.
TEST_F(Buffers, ComeBackHoweverOftenTheDirectionChanges) {
  for (int turn = 0; turn < 6; ++turn)
    for (int i = 0; i < 3 * geometry_.buffers; ++i) {
      const std::size_t bytes = i % 2 == 0 ? 1 : tuning.short_piece + 1;
      static_cast<void>(turn % 2 == 0 ? pass(left_, right_, bytes) : pass(right_, left_, bytes));
    }
}

/// The pool of a rank that shares buffers with many others is never used up by those that they keep.
TEST(BufferGeometry, LeavesBuffersThatNobodyKeeps) {
  for (int ranks = 2; ranks <= 300; ++ranks) {
    const Geometry geometry = Geometry::for_ranks(ranks);
    EXPECT_LE(geometry.buffers, Geometry::most_buffers);
    EXPECT_GE(geometry.buffers - geometry.kept * (ranks - 1), geometry.buffers / 2) << ranks;
  }
}

/// Every third message is refused. The sender's answer is about this message, whose data may change.
TEST_F(Buffers, LentMessagesAreReadOrRefused) {
  constexpr int lane = 0;
  constexpr std::uint64_t messages = 20'000;
  constexpr std::size_t bytes = 200;
  const auto is_refused = [](std::uint64_t n) { return n % 3 == 0; };
  std::uint64_t corrupted = 0, misheard = 0;
  std::thread reader([&] {
    for (std::uint64_t n = 0; n < messages; ++n) {
      while (!right_.ring(lane).incoming().is_there())
        std::this_thread::yield();
      const Incoming incoming = right_.ring(lane).incoming();
      const Envelope came = incoming.envelope();
      const auto* const data = reinterpret_cast<const std::byte*>(static_cast<std::intptr_t>(incoming.loan().source));
      if (came.where != Where::on_device || came.message != n || !is_filled(data, mix(1, n), bytes)) ++corrupted;
      if (is_refused(n)) right_.ring(0).refuse();
      right_.release(lane, came);
    }
  });
  std::vector<std::byte> data(bytes);
  for (std::uint64_t n = 0; n < messages; ++n) {
    fill(data.data(), mix(1, n), bytes);
    while (!left_.ring(lane).may_send())
      std::this_thread::yield();
    const std::uint64_t loan =
        left_.ring(lane).lend({0, 0, static_cast<std::uint32_t>(n), Where::on_device},
                              {.source = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(data.data()))});
    while (!left_.ring(0).has_read(loan))
      std::this_thread::yield();
    misheard += left_.ring(0).was_refused() == is_refused(n) ? 0 : 1;
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
    const std::uint64_t expected = among * load.lanes.size() * load.messages +
                                   publishers * load.publications * static_cast<std::uint64_t>(ranks - 1);
    EXPECT_EQ(outcome.messages, expected);
    return outcome;
  }
};

TEST_P(Protocol, Rings) {
  Load load{.lanes = {0}, .messages = 30'000, .most_bytes = GetParam().cell_bytes};
  expect_intact(2, load);
  load.is_one_sided = true;
  expect_intact(2, load);
}

TEST_P(Protocol, Buffers) {
  expect_intact(2, {.lanes = {0}, .messages = 20'000, .most_bytes = GetParam().buffer_bytes});
}

TEST_P(Protocol, BuffersThatAreAllSentOneWayComeBack) {
  const Outcome outcome =
      expect_intact(2, {.lanes = {0}, .messages = 10'000, .most_bytes = GetParam().buffer_bytes, .is_one_sided = true});
  EXPECT_GT(outcome.given_back, 500);
}

TEST_P(Protocol, SharedByManyReaders) {
  expect_intact(4, {.lanes = {}, .is_one_sided = true, .publications = 4'000});
  expect_intact(3, {.lanes = {}, .publications = 2'000});
}

TEST_P(Protocol, EverythingAtOnce) {
  expect_intact(3, {.lanes = every_lane(GetParam()),
                    .messages = 4'000,
                    .most_bytes = GetParam().buffer_bytes,
                    .publications = 1'000});
}

INSTANTIATE_TEST_SUITE_P(Geometries, Protocol, testing::Values(usual(), least()),
                         [](const auto& geometry) { return geometry.param.lanes == 1 ? "least" : "usual"; });

}  // namespace
}  // namespace tutti::shm::test
