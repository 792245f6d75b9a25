// Journals: the last operations, failures, and what other processes find there.
#include "lib/watch/records/journal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "lib/watch/records/recorder.hpp"

namespace tutti::records {
namespace {

const CommunicatorId one = CommunicatorId::of(1, 1), other = CommunicatorId::of(2, 1);

Packed call_on(CommunicatorId communicator) {
  return pack({.action = Action::barrier, .ranks = 2, .communicator = communicator});
}

TEST(Journal, KeepsTheLastOperations) {
  Recorder recorder;
  for (std::uint64_t sequence = 0; sequence < 1000; ++sequence)
    recorder.leave(recorder.enter(call_on(one), sequence, Manner::blocking), State::over);
  const auto all = recorder.journal().latest(kept);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kept));
  EXPECT_EQ(all.front().call.sequence, 999U);
  EXPECT_EQ(all.back().call.sequence, 1000U - kept);
  EXPECT_EQ(recorder.journal().latest(3).size(), 3U);
}

TEST(Journal, ShowsTheOldestCallThatItIsInsideFirst) {
  Recorder recorder;
  for (std::uint64_t sequence = 0; sequence < 6; ++sequence) {
    const std::uint64_t number = recorder.enter(call_on(one), sequence, Manner::nonblocking);
    if (sequence != 2 && sequence != 4) recorder.leave(number, State::over);
  }
  std::vector<std::uint32_t> sequences;
  for (const Entry& entry : recorder.journal().foremost(5))
    sequences.push_back(entry.call.sequence);
  EXPECT_EQ(sequences, (std::vector<std::uint32_t>{2, 4, 5, 3, 1}));
  EXPECT_EQ(recorder.journal().foremost(1).front().call.sequence, 2U);
}

TEST(Journal, IsWrittenToEachMemory) {
  const auto shared = std::make_shared<Journal>(), second = std::make_shared<Journal>();
  Recorder recorder;
  recorder.attach(*shared, shared);
  recorder.attach(*second, second);
  const std::uint64_t number = recorder.enter(call_on(one), 5, Manner::blocking);
  for (const auto& journal : {shared, second}) {
    EXPECT_EQ(journal->latest(1).at(0).state, State::inside);
    EXPECT_EQ(journal->latest(1).at(0).call.sequence, 5U);
  }
  recorder.set_wait(number, {Wait::For::message_from, 1, 1});
  recorder.leave(number, State::over);
  recorder.fail(other, FailureKind::death, "why");
  for (const auto& journal : {shared, second}) {
    EXPECT_EQ(journal->latest(1).at(0).state, State::over);
    EXPECT_EQ(journal->latest(1).at(0).wait.peer, 1);
    EXPECT_EQ(journal->failure_of(other)->why, "why");
  }
}

TEST(Journal, TellsFailures) {
  Journal journal;
  EXPECT_FALSE(journal.failure_of(one));
  journal.fail(one, FailureKind::mismatch, std::string(5000, 'x'));
  EXPECT_FALSE(journal.failure_of(other));
  const auto failure = journal.failure_of(one);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, FailureKind::mismatch);
  EXPECT_GT(failure->why.size(), 900U);  // cut
  EXPECT_LT(failure->why.size(), 5000U);
  for (int context = 10; context < 13; ++context)
    journal.fail(CommunicatorId::of(context, 0), FailureKind::error, "later");
  EXPECT_TRUE(journal.failure_of(one));
  journal.fail(other, FailureKind::error, "makes the oldest go");
  EXPECT_FALSE(journal.failure_of(one));
  EXPECT_EQ(journal.failures(), 5U);
}

TEST(Journal, KnowsReports) {
  Journal journal;
  const Signature call{.communicator = one, .sequence = 0};
  EXPECT_FALSE(journal.has_reported(call));
  journal.reported(call);
  EXPECT_TRUE(journal.has_reported(call));
  EXPECT_FALSE(journal.has_reported({.communicator = one, .sequence = 1}));
}

TEST(Journal, HasTheIdentityOfItsProcess) {
  Journal journal;
  EXPECT_FALSE(journal.is_open());
  journal.open(own_identity(3, 8));
  ASSERT_TRUE(journal.is_open());
  EXPECT_EQ(journal.identity().pid, ::getpid());
  EXPECT_EQ(journal.identity().rank, 3);
  EXPECT_GT(journal.identity().started, 0U);
  EXPECT_EQ(std::string{journal.identity().program.data()}, program_invocation_short_name);
}

}  // namespace
}  // namespace tutti::records
