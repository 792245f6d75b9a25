// What a peer that does not keep to the protocol writes to shared memory is an error that names it. The fuzzer of
// tests/fuzz/shm.cpp finds out whether anything else can happen.
#include <gmock/gmock.h>

#include <limits>

#include "tests/shm/shm_two_ends.hpp"
#include "tutti/error.hpp"

namespace tutti::shm {
namespace {

using testing::HasSubstr;

/// Rank 0 receives two messages of 20 000 bytes, or rank 1 sends them. The other one is the test.
class Damaged : public TwoEnds {
 protected:
  static constexpr std::int64_t bytes = 40'000;
  using Run = Execution<ShmPort>;

  explicit Damaged(SingleCopyUse use = SingleCopyUse::never) : TwoEnds(use) {
    receiver_.bind(nullptr, into_.data());
    sender_.bind(from_.data(), nullptr);
    for (Run* run : {&receiver_, &sender_}) {
      run->port().begin(0, 0);
      run->begin();
    }
  }
  static std::string error_of(Run& run) {
    try {
      for (int looks = 0; looks < 100; ++looks)
        run.advance();
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  /// Of the first message.
  Envelope envelope(Where where, std::uint16_t number = 0, std::uint8_t phase = 0) {
    Envelope its = receiver_.port().context().envelope_of(plans_[0].steps[0], where);
    its.number = number;
    its.phase = phase;
    return its;
  }
  std::string error_of_receiver(const Envelope& envelope, const Loan& loan = {}) {
    Ring& ring = links_[1]->open(0).ring(0);
    const std::vector<std::byte> data(256);
    if (envelope.where == Where::cell)
      ring.send(envelope, data.data(), std::min<std::size_t>(envelope.number, data.size()));
    else
      ring.lend(envelope, loan);
    return error_of(receiver_);
  }
  /// The words that rank 0 writes for rank 1.
  std::atomic<std::uint64_t>* credits() {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(at(geometry.credits_at(0, 1)));
  }
  std::byte* at(std::int64_t offset) {
    if (pair_.data() == nullptr)
      pair_ = segment_->map(Segment::first_free, geometry.pair_bytes());  // of ranks 0 and 1: the first
    return pair_.data() + offset;
  }

  Mapping pair_;
  SharedPlan plans_[2] = {plan_of(0, bytes), plan_of(1, bytes)};
  std::vector<std::byte> into_ = std::vector<std::byte>(bytes), from_ = numbered(bytes);
  Run receiver_{plans_[0], ShmPort{route_of(0), plans_[0]}}, sender_{plans_[1], ShmPort{route_of(1), plans_[1]}};
};

TEST_F(Damaged, CellsHaveAsManyBytesAsTheyCan) {
  for (const std::uint16_t number : {0, 257, 65535}) {
    const std::string error = error_of_receiver(envelope(Where::cell, number));
    EXPECT_THAT(error, HasSubstr("receive from rank 1: ")) << number;
    EXPECT_THAT(error, HasSubstr(fmt::format("{} bytes came in a cell", number)));
  }
}

TEST_F(Damaged, BounceBuffersAreThoseThatThereAre) {
  EXPECT_THAT(error_of_receiver(envelope(Where::bounce, 12)),
              HasSubstr("receive from rank 1: data came at byte 0 of bounce buffer 12"));
  EXPECT_THAT(error_of_receiver(envelope(Where::shared, 65535)), HasSubstr("bounce buffer 65535"));
  EXPECT_THAT(error_of_receiver(envelope(Where::bounce, 0, 64)), HasSubstr("byte 64 of bounce buffer 0"));
}

TEST_F(Damaged, NobodyReturnsABufferThatItDoesNotHave) {
  EXPECT_THAT(error_of_receiver(envelope(Where::returned, 3)),
              HasSubstr("receive from rank 1: data came at byte 0 of bounce buffer 3"));
  EXPECT_EQ(links_[0]->pool().free(), static_cast<std::size_t>(geometry.buffers));
}

TEST_F(Damaged, LoansAreInThePartOfTheirOwner) {
  const std::int64_t part = NodeHeap::bytes_of_each(ranks);
  for (const std::int64_t source : {std::int64_t{0}, part - 1, 2 * part - 1, 3 * part,
                                    std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
    EXPECT_THAT(error_of_receiver(envelope(Where::lent), {.source = source}),
                HasSubstr(fmt::format("receive from rank 1: 20000 bytes came at {} of Tutti memory", source)));
  EXPECT_THAT(error_of_receiver(envelope(Where::lent), {.source = part, .answer = 0, .answer_message = 0}),
              HasSubstr("their answer belongs at 0"));
  EXPECT_EQ(counters_.lent, 0U);
}

TEST_F(Damaged, NothingIsReadInMemoryThatThisRankCannotRead) {
  EXPECT_THAT(error_of_receiver(envelope(Where::exposed), {.source = 1}),
              HasSubstr("receive from rank 1: data came in memory that this rank cannot read"));
}

TEST_F(Damaged, UnknownWaysAreNamed) {
  EXPECT_THAT(error_of_receiver(envelope(static_cast<Where>(9))),
              HasSubstr("receive from rank 1: data came in an unknown way, 9"));
}

TEST_F(Damaged, CellsThatWereNotSentDoNotComeBack) {
  credits()->store(1'000'000);
  for (int i = 0; i < geometry.cells; ++i)
    links_[1]->open(0).ring(0).send({}, nullptr, 0);
  EXPECT_THAT(error_of(sender_), HasSubstr("send to rank 0: it gave back cells that it does not have"));
}

TEST_F(Damaged, BuffersThatWereNotSentDoNotComeBack) {
  BouncePool& pool = links_[1]->pool();
  while (pool.take() >= 0) {
  }
  auto* const entries = reinterpret_cast<Geometry::Return*>(at(geometry.returns_at(0)));
  for (const Geometry::Return entry : {8, 254, 65534}) {
    entries[0] = entry;
    EXPECT_THAT(error_of(sender_), HasSubstr("send to rank 0: it gave back a bounce buffer that it does not have"));
    EXPECT_EQ(pool.free(), 0U);
  }
}

class DamagedAnswers : public Damaged {
 protected:
  DamagedAnswers() : Damaged(SingleCopyUse::always) {}
};

TEST_F(DamagedAnswers, RefuseAPartOfTheMessage) {
  links_[0]->reserve_buffers(1);  // says that rank 0 may read
  EXPECT_FALSE(sender_.advance());
  ASSERT_EQ(links_[1]->open(0).ring(0).state()[0], 1U) << "the message is exposed";
  credits()[2].store(20'001);  // from byte 20 000 on
  credits()[1].store(1);
  EXPECT_THAT(error_of(sender_), HasSubstr("send to rank 0: it could not read from byte 20000 of 20000 on"));
}

}  // namespace
}  // namespace tutti::shm
