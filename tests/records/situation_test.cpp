// Where ranks are, in words: the parts of a report of a hang.
#include "lib/watch/records/situation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/watch/records/recorder.hpp"

namespace tutti::records {
namespace {

using testing::HasSubstr;
using testing::Not;

const CommunicatorId comm = CommunicatorId::of(0, 9), other_comm = CommunicatorId::of(4, 9);
constexpr std::int64_t second = 1'000'000'000;

Signature sum(int rank, std::uint32_t sequence = 5) {
  return {.action = Action::allreduce,
          .type = Type::fp32,
          .count = 8,
          .rank = rank,
          .ranks = 3,
          .fingerprint = 1,
          .communicator = comm,
          .sequence = sequence};
}

Situation inside(int rank, int waits_for) {
  Situation its;
  its.place = Situation::Whereabouts::inside;
  its.has_call = true;
  its.call = {1, State::inside, 0, sum(rank), {Wait::For::message_from, 2, waits_for}};
  its.age = 60 * second;
  return its;
}

TEST(Situation, IsReadFromAJournal) {
  Recorder recorder;
  const auto place = [&] { return situation_of(recorder.journal(), sum(0), coarse_now()).place; };
  EXPECT_EQ(place(), Situation::Whereabouts::not_come);
  recorder.leave(recorder.enter(pack(sum(1, 0)), 4, Manner::blocking), State::over);
  EXPECT_EQ(place(), Situation::Whereabouts::not_come);
  const std::uint64_t number = recorder.enter(pack(sum(1, 0)), 5, Manner::blocking);
  EXPECT_EQ(place(), Situation::Whereabouts::inside);
  recorder.leave(number, State::over);
  EXPECT_EQ(place(), Situation::Whereabouts::done);
}

TEST(Situation, FindsAnotherCall) {
  Recorder recorder;
  Signature barrier = sum(1, 0);
  barrier.action = Action::barrier;
  barrier.fingerprint = 2;
  recorder.enter(pack(barrier), 5, Manner::blocking);
  EXPECT_EQ(situation_of(recorder.journal(), sum(0), coarse_now()).place, Situation::Whereabouts::elsewhere);
  // A call with that number on another communicator is no other call here.
  Recorder far;
  barrier.communicator = other_comm;
  far.enter(pack(barrier), 5, Manner::blocking);
  EXPECT_EQ(situation_of(far.journal(), sum(0), coarse_now()).place, Situation::Whereabouts::not_come);
}

TEST(Situation, FindsTheFirstMismatch) {
  Recorder mine, theirs;
  for (std::uint32_t sequence = 0; sequence < 10; ++sequence) {
    Signature other = sum(1, 0);
    if (sequence >= 6) other.count = 100 + sequence, other.fingerprint = 100 + sequence;
    mine.enter(pack(sum(0, 0)), sequence, Manner::blocking);
    theirs.enter(pack(other), sequence, Manner::blocking);
  }
  const auto pair = first_mismatch(mine.journal(), theirs.journal(), comm);
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->mine.sequence, 6U);
  EXPECT_EQ(pair->theirs.count, 106);
  EXPECT_THAT(mismatch_in_words(pair->mine, pair->theirs),
              testing::StartsWith("count 8 on rank 0, 106 on rank 1: rank 1 called "));
  EXPECT_FALSE(first_mismatch(mine.journal(), mine.journal(), comm));
}

/// They have numbers of their own.
TEST(Situation, CallsInStreamsMatchNoOthers) {
  Recorder mine, theirs;
  Signature other = sum(1, 0);
  other.fingerprint = 2;
  theirs.leave(theirs.enter(pack(other), 5, Manner::in_stream), State::over);
  mine.enter(pack(sum(0, 0)), 5, Manner::blocking);
  EXPECT_FALSE(first_mismatch(mine.journal(), theirs.journal(), comm));
  EXPECT_FALSE(first_mismatch(theirs.journal(), mine.journal(), comm));
  const Situation its = situation_of(theirs.journal(), sum(0), coarse_now());
  EXPECT_EQ(its.place, Situation::Whereabouts::not_come);
  EXPECT_EQ(its.call.call.manner, Manner::in_stream) << "but it is the latest call";
}

TEST(HangReport, FollowsTheChainToItsRoot) {
  std::vector<Situation> all{Situation{}, inside(1, 0), inside(2, 1)};
  all[0].place = Situation::Whereabouts::not_come;
  all[0].has_call = true;
  all[0].call = {40, State::over, 0, sum(0, 4), {}};
  all[0].age = 93 * second;
  all[0].life = Life::running;
  const std::string chain = chain_in_words(all, 2);
  EXPECT_THAT(chain, HasSubstr("rank 2 waits for 1, 1 for 0; rank 0 has not come: its last call was allreduce #4"));
  EXPECT_THAT(chain, HasSubstr("which began 93 s ago"));
  const std::string report = hang_report(all, sum(1), 61 * second);
  EXPECT_THAT(report, HasSubstr("rank 1 of 3 has waited for 61 s in allreduce #5 of 8 fp32, sum"));
  EXPECT_THAT(report, HasSubstr("rank 2: inside since 60 s, waits at step 2 for a message from rank 1"));
}

TEST(HangReport, EndsWithARankThatIsInsideAndStopped) {
  std::vector<Situation> all{inside(0, 1), inside(1, -1)};
  all[1].call.wait = {};
  EXPECT_THAT(chain_in_words(all, 0), testing::StartsWith("rank 0 waits for 1; rank 1 inside since"));
  EXPECT_THAT(chain_in_words(all, 0), testing::Not(HasSubstr("stopped")));
  all[1].life = Life::stopped;
  EXPECT_THAT(chain_in_words(all, 0), HasSubstr(", and the process is stopped (SIGSTOP, or a debugger)"));
}

TEST(HangReport, EndsInACircle) {
  const std::vector<Situation> all{inside(0, 1), inside(1, 2), inside(2, 0)};
  EXPECT_EQ(chain_in_words(all, 0), "rank 0 waits for 1, 1 for 2, 2 for 0: they wait for each other");
}

TEST(HangReport, TellsEachKindOfRank) {
  std::vector<Situation> all(7);
  all[0] = inside(0, 1);
  all[1].place = Situation::Whereabouts::silent;
  all[2].place = Situation::Whereabouts::elsewhere;
  all[2].call.call = {.action = Action::barrier, .ranks = 7, .communicator = comm, .sequence = 5};
  all[3].place = Situation::Whereabouts::done;
  all[4].place = Situation::Whereabouts::failed;
  all[5].place = Situation::Whereabouts::not_come;
  all[5].life = Life::stopped;
  all[6].place = Situation::Whereabouts::not_come;
  all[6].life = Life::dead;
  all[6].signal = 9;
  const std::string report = hang_report(all, sum(0), second);
  EXPECT_THAT(report, HasSubstr("rank 1: does not answer"));
  EXPECT_THAT(report, HasSubstr("rank 2: has made another call: barrier #5"));
  EXPECT_THAT(report, HasSubstr("done with their part: 3"));
  EXPECT_THAT(report, HasSubstr("rank 4: its call failed"));
  EXPECT_THAT(report, HasSubstr("rank 5: has not come: it has made no call; the process is stopped"));
  EXPECT_THAT(report, HasSubstr("the process is dead: signal 9 (SIGKILL)"));
}

/// A peer that is no rank comes from memory that another process wrote.
TEST(HangReport, StandsDamagedRecords) {
  const std::vector<Situation> all{inside(0, 77), inside(1, -5)};
  EXPECT_THAT(hang_report(all, sum(0), second), Not(HasSubstr("77, ")));
}

TEST(HangReport, IsShortForManyRanks) {
  std::vector<Situation> all(5000, inside(0, 1));
  all[4000].place = Situation::Whereabouts::done;
  const std::string report = hang_report(all, sum(0), second);
  EXPECT_THAT(report, HasSubstr("not listed: 64-3999, 4001-4999"));
  EXPECT_LT(report.size(), 20'000U);
}

}  // namespace
}  // namespace tutti::records
