// Traces of several ranks as one job: clocks, communicators, the ends of messages, and the figures of the summary.
#include "apps/tutti/trace_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/options.hpp"
#include "apps/tutti/trace_summary.hpp"
#include "tests/trace/trace_files.hpp"
#include "tests/trace/traced_jobs.hpp"

namespace tutti::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using trace::Action;

TEST(TracedJob, ClocksOfOneNodeAreTheSame) {
  const tool::TracedJob job = job_of(RankTrace{0, 2}.clock(0, 0, 5, 0, 0), RankTrace{1, 2}.clock(0, 0, 5, 0, 0));
  EXPECT_EQ(job.time(0, 123), 123);
  EXPECT_EQ(job.time(1, 123), 123);
  EXPECT_EQ(job.clock_count, 1);
  EXPECT_EQ(job.uncertainty, 0);
  EXPECT_THAT(job.notes, IsEmpty());
}

/// Ranks 2 and 3 share a clock, which rank 2 compares at the beginning and at the end.
TEST(TracedJob, ClocksDriftLinearly) {
  const tool::TracedJob job =
      job_of(RankTrace{0, 4}.clock(0, 0, 5, 0, 0).clock(0, 0, 9000, 0, 0), RankTrace{1, 4}.clock(0, 0, 5, 0, 0),
             RankTrace{2, 4}.clock(0, 2, 100'000, 1'000'000, 40).clock(0, 2, 300'000, 1'000'200, 60),
             RankTrace{3, 4}.clock(0, 2, 100'000, 1'000'000, 40));
  for (const std::uint32_t file : {2, 3}) {
    EXPECT_EQ(job.time(file, 100'000), 1'100'000);
    EXPECT_EQ(job.time(file, 200'000), 1'200'100);
    EXPECT_EQ(job.time(file, 300'000), 1'300'200);
    EXPECT_EQ(job.time(file, 500'000), 1'500'400);
  }
  EXPECT_EQ(job.time(1, 77), 77);
  EXPECT_EQ(job.clock_count, 2);
  EXPECT_EQ(job.uncertainty, 30);
}

/// Rank 2's clock was compared with rank 1's, which was compared with rank 0's.
TEST(TracedJob, ClocksAreComparedInChains) {
  const tool::TracedJob job = job_of(RankTrace{0, 4}.clock(0, 0, 5, 0, 0), RankTrace{1, 4}.clock(0, 1, 50, 1000),
                                     RankTrace{2, 4}.clock(1, 2, 60, 200), RankTrace{3, 4}.clock(0, 0, 5, 0, 0));
  EXPECT_EQ(job.time(2, 60), 1260);
  EXPECT_EQ(job.clock_count, 3);
}

TEST(TracedJob, TellsOfClocksThatWereNotCompared) {
  const tool::TracedJob job =
      job_of(RankTrace{0, 3}.clock(0, 0, 5, 0, 0), RankTrace{1, 3}.clock(0, 0, 5, 0, 0), RankTrace{2, 3, "node2"});
  EXPECT_THAT(job.notes, ElementsAre("rank 2: its clock was not compared with the others"));
}

TEST(TracedJob, AbsurdClocksDoNoHarm) {
  const std::int64_t far = std::int64_t{1} << 60;
  const tool::TracedJob job =
      job_of(RankTrace{0, 3}.clock(0, 0, 5, 0, 0),
             RankTrace{1, 3}.clock(0, 1, 5, far, far).clock(0, 1, 6, -far, far).allreduce(0, far, far),
             RankTrace{2, 3}.clock(1, 2, far, far).clock(1, 2, 0, -far).allreduce(0, far, far));
  EXPECT_EQ(job.files.size(), 3);
}

TEST(TracedJob, MessagesHaveTwoEnds) {
  RankTrace a{0, 2}, b{1, 2};
  a.allreduce(0, 10, 90).step(Action::send, 1, 10, 11).step(Action::send, 1, 12, 13, 1).step(Action::recv, 1, 12, 50);
  a.allreduce(1, 100, 190).step(Action::send, 1, 110, 111);
  b.allreduce(0, 20, 90)
      .step(Action::recv_reduce, 0, 30, 41, 1)
      .step(Action::recv, 0, 30, 40)
      .step(Action::send, 0, 31, 32);
  b.allreduce(1, 100, 0);
  const tool::TracedJob job = job_of(a, b);
  ASSERT_EQ(job.flows.size(), 3);
  EXPECT_EQ(job.unmatched, 1);
  for (const tool::Flow& flow : job.flows) {
    const trace::StepRecord& send = job.files[flow.send.file].steps[flow.send.index];
    const trace::StepRecord& recv = job.files[flow.recv.file].steps[flow.recv.index];
    EXPECT_EQ(send.message, recv.message);
    EXPECT_EQ(send.sequence, recv.sequence);
    EXPECT_NE(flow.send.file, flow.recv.file);
  }
}

/// Contexts are used again, and ranks of different communicators may have the same at the same time.
TEST(TracedJob, CommunicatorsAreToldApart) {
  RankTrace a{0, 4}, b{1, 4}, c{2, 4}, d{3, 4};
  a.communicator(1, 0, 2, 10).communicator(1, 0, 2, 10, 1);
  b.communicator(1, 1, 2, 10).communicator(1, 1, 2, 10, 1);
  c.communicator(1, 1, 2, 20);
  d.communicator(1, 0, 2, 20);
  a.allreduce(0, 10, 20, 2);
  b.allreduce(0, 10, 20, 2);
  c.allreduce(0, 10, 20, 1);
  d.allreduce(0, 10, 20, 1);
  const tool::TracedJob job = job_of(a, b, c, d);
  std::vector<std::string> names;
  for (const tool::TracedCommunicator& communicator : job.communicators)
    names.push_back(communicator.name);
  EXPECT_THAT(names, ElementsAre("0/4", "1/2", "1/2#2", "1/2#3"));
  EXPECT_EQ(job.instances.size(), 2);
  EXPECT_EQ(job.world_rank(2, 1, 0), 3);
  EXPECT_EQ(job.world_rank(2, 1, 1), 2);
  EXPECT_EQ(job.world_rank(0, 1, 1), 1);
  EXPECT_EQ(job.world_rank(0, 1, -1), -1);
}

TEST(TracedJob, TellsWhatIsMissing) {
  RankTrace b{2, 3};
  b.file().is_closed = false;
  b.file().dropped = 12;
  const tool::TracedJob job = job_of(RankTrace{0, 3}, b);
  EXPECT_THAT(job.notes, ElementsAre(HasSubstr("rank 0: its clock"), HasSubstr("rank 2: its clock"),
                                     "1 of 3 ranks have no trace here", HasSubstr("rank 2: the trace was not closed"),
                                     HasSubstr("rank 2: 12 records were dropped")));
}

TEST(TracedJob, RefusesFilesOfSeveralRuns) {
  const auto refusal = [](RankTrace a, RankTrace b) -> std::string {
    try {
      static_cast<void>(job_of(std::move(a), std::move(b)));
      return "none";
    } catch (const apps::InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(RankTrace{0, 2}, RankTrace{1, 2}), "none");
  EXPECT_THAT(refusal(RankTrace{0, 2}, RankTrace{0, 2, "node2"}),
              HasSubstr("'node1.0' (rank 0 of 2, begun at 1970-01-01 00:00:00 UTC) and 'node2.0'"));
  EXPECT_THAT(refusal(RankTrace{0, 2}, RankTrace{1, 3}), HasSubstr("files of several runs"));
}

TEST(TracedJob, IsReadFromAFolder) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& path) -> std::string {
    try {
      static_cast<void>(tool::read_job(path, tool::Salvage::no));
      return "none";
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal(folder.path() + "/none"), HasSubstr("cannot read the folder"));
  EXPECT_THAT(refusal(folder.path()), HasSubstr("has no traces"));
  std::ofstream{folder.path() + "/other.txt"} << "no trace";
  for (const int rank : {1, 0})
    trace::Writer{folder.path(), header_of(rank, 2), no_limit}.begin();
  EXPECT_EQ(tool::read_job(folder.path(), tool::Salvage::no).files.size(), 2);
  std::ofstream{folder.path() + "/node1.0.tutti-trace"} << "no trace";
  EXPECT_THAT(refusal(folder.path()), HasSubstr("/node1.0.tutti-trace', byte 0: the file is too short"));
}

TEST(TraceFigures, TellOfCalls) {
  const std::vector<tool::CallFigures> calls = tool::call_figures(two_ranks());
  ASSERT_EQ(calls.size(), 1);
  const tool::CallFigures& call = calls.front();
  EXPECT_EQ(call.collective, "allreduce");
  EXPECT_EQ(call.algorithm, "ring");
  EXPECT_EQ(call.calls, 1);
  EXPECT_EQ(call.rank_calls, 2);
  EXPECT_EQ(call.bytes, 800);
  EXPECT_EQ(call.total, 2000 + 1450);
  EXPECT_EQ(call.median, 2000);
  EXPECT_EQ(call.most, 2000);
  EXPECT_EQ(call.waited, 1700 + 400);
  EXPECT_EQ(call.waited_for, (std::map<int, std::int64_t>{{0, 400}, {1, 1700}}));
  EXPECT_EQ(call.unfinished + call.failed, 0);
}

/// Rank 2 enters late twice, rank 0 once; a collective that one rank did not enter does not count.
TEST(TraceFigures, TellWhoIsLate) {
  RankTrace a{0, 3}, b{1, 3}, c{2, 3};
  a.allreduce(0, 100, 200).allreduce(1, 300, 400).allreduce(2, 560, 600).allreduce(3, 700, 800);
  b.allreduce(0, 110, 200).allreduce(1, 300, 400).allreduce(2, 500, 600).allreduce(3, 700, 800);
  c.allreduce(0, 150, 200).allreduce(1, 330, 400).allreduce(2, 510, 600);
  b.wait(2, 300, 340);
  c.wait(2, 330, 390);
  const std::vector<tool::RankFigures> ranks = tool::rank_figures(job_of(a, b, c));
  ASSERT_EQ(ranks.size(), 3);
  for (const tool::RankFigures& rank : ranks)
    EXPECT_EQ(rank.entered, 3);
  EXPECT_EQ(ranks[0].last, 1);
  EXPECT_EQ(ranks[1].last, 0);
  EXPECT_EQ(ranks[2].last, 2);
  EXPECT_EQ(ranks[0].late, 60);
  EXPECT_EQ(ranks[1].late, 10);
  EXPECT_EQ(ranks[2].late, 50 + 30 + 10);
  EXPECT_EQ(ranks[2].latest, 50);
  EXPECT_DOUBLE_EQ(ranks[2].mean_late(), 30);
  EXPECT_DOUBLE_EQ(ranks[2].imbalance(), 50.0 / 30);
  EXPECT_EQ(ranks[1].waited, 40);
  EXPECT_EQ(ranks[2].others_waited, 40) << "not the time that it waited itself";
}

TEST(TraceFigures, OfRanksThatAreNeverLate) {
  const std::vector<tool::RankFigures> ranks = tool::rank_figures(job_of(RankTrace{0, 1}.allreduce(0, 10, 20)));
  EXPECT_EQ(ranks[0].entered, 0) << "alone";
  EXPECT_EQ(ranks[0].mean_late(), 0);
  EXPECT_EQ(ranks[0].imbalance(), 0);
}

}  // namespace
}  // namespace tutti::test
