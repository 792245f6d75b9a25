// The trace of real calls: what is recorded of each kind, in the order of causes, and who keeps others waiting.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <set>

#include "apps/tutti/trace_summary.hpp"
#include "tests/mpi/collective_cases.hpp"
#include "tests/mpi/recorded_traces.hpp"

namespace tutti::test {
namespace {

using trace::Action;
using trace::Start;

class TraceFolder : public testing::Environment {
 public:
  void SetUp() override {
    std::array<char, 256> path{};
    if (world_rank() == 0) folder_ = std::make_unique<TemporaryFolder>();
    if (world_rank() == 0) folder_->path().copy(path.data(), path.size() - 1);
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("TUTTI_TRACE", path.data(), 1);
    const Communicator first{MPI_COMM_WORLD};  // opens the file, whichever tests run
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    folder_.reset();
  }

 private:
  std::unique_ptr<TemporaryFolder> folder_;
};
[[maybe_unused]] const auto* const environment = testing::AddGlobalTestEnvironment(new TraceFolder);

TEST(Trace, TellsHowOperationsWereCalled) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::size_t before = recorded().operations.size();
  std::vector<double> data(5, 1);
  allreduce(std::span{data}, Op::max, comm);
  allreduce_async(std::span{data}, Op::max, comm).wait();
  Plan plan = plan_allreduce(std::span{data}, Op::max, comm);
  for (int i = 0; i < 2; ++i) {
    plan.start();
    plan.wait();
  }
  broadcast(std::span{data}, Rank{comm.size() - 1}, comm);
  const tool::TraceFile file = recorded();
  const std::vector<tool::TracedOperation> operations = since(file, before);
  std::vector<Start> starts;
  for (const tool::TracedOperation& operation : operations)
    starts.push_back(operation.begun.start);
  EXPECT_THAT(starts, testing::ElementsAre(Start::blocking, Start::nonblocking, Start::persistent, Start::persistent,
                                           Start::blocking));
  ASSERT_FALSE(operations.empty());
  const trace::BeginRecord &first = operations.front().begun, &last = operations.back().begun;
  EXPECT_EQ(file.names[first.type], "fp64");
  EXPECT_EQ(file.names[first.op], "max");
  EXPECT_EQ(first.bytes, 40);
  EXPECT_EQ(first.count, 5);
  EXPECT_EQ(first.root, -1);
  EXPECT_EQ(last.root, comm.size() - 1);
  EXPECT_EQ(file.names[last.op], "");
}

TEST(Trace, NumbersCommunicators) {
  const std::size_t before = recorded().communicators.size();
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &part);
  for (int i = 0; i < 2; ++i) {
    const Communicator comm{part};
    barrier(comm);
  }
  MPI_Comm_free(&part);
  const tool::TraceFile file = recorded();
  ASSERT_EQ(file.communicators.size(), before + 2);
  const trace::CommunicatorRecord &one = file.communicators[before], &two = file.communicators[before + 1];
  EXPECT_EQ(one.context, two.context) << "a context is used again";
  EXPECT_EQ(one.members, two.members);
  EXPECT_EQ(one.earlier + 1, two.earlier);
  EXPECT_EQ(one.size, (world_size() + 1 - world_rank() % 2) / 2);
  EXPECT_EQ(file.operations.back().begun.communicator, before + 1);
}

/// A context is used again by communicators of other sizes and orders, whose ranks count for themselves.
TEST(Trace, TellsCommunicatorsOfOneContextApart) {
  std::vector<std::vector<int>> lists{{3, 0, 1}};
  for (int size = 1; size <= world_size(); ++size)
    for (int first = 0; first < size; ++first)
      for (std::vector<int>& list = lists.emplace_back(); std::ssize(list) < size;)
        list.push_back((first + static_cast<int>(list.size())) % size);
  std::erase_if(lists, [](const std::vector<int>& list) { return std::ranges::max(list) >= world_size(); });
  const std::size_t before = recorded_by_all().communicators.size();
  for (int again = 0; again < 2; ++again)
    for (const std::vector<int>& list : lists) {
      const auto key = std::ranges::find(list, world_rank()) - list.begin();
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, key < std::ssize(list) ? 0 : MPI_UNDEFINED, static_cast<int>(key), &part);
      if (part == MPI_COMM_NULL) continue;
      const Communicator comm{part};
      barrier(comm);
      MPI_Comm_free(&part);
    }
  const tool::TracedJob job = recorded_by_all();
  EXPECT_EQ(job.communicators.size(), before + 2 * lists.size());
  EXPECT_EQ(job.unmatched, 0);
}

/// Blocks that differ in size: an exchange of sizes first, whose messages are recorded too.
TEST(Trace, HasBothParts) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<Count> counts;
  for (int rank = 0; rank < comm.size(); ++rank)
    counts.emplace_back(rank + 1);
  const MessageCounters counted = comm.message_counters();
  expect_right<std::int32_t>({.collective = Collective::gather, .algorithm = "binomial", .counts = counts}, Op::sum,
                             comm);
  const tool::TraceFile file = recorded();
  const tool::TracedOperation& operation = file.operations.back();
  EXPECT_NE(operation.begun.flags & trace::BeginRecord::exchanges, 0);
  std::set<std::uint64_t> sequences;
  const std::vector<trace::StepRecord> steps = steps_of(file, operation);
  for (const trace::StepRecord& step : steps)
    if (step.action <= Action::recv_reduce) sequences.insert(step.sequence - operation.begun.sequence);
  EXPECT_TRUE(world_size() == 1 || sequences == (std::set<std::uint64_t>{0, 1}));
  const MessageCounters now = comm.message_counters();
  EXPECT_EQ(bytes_of(steps, trace::Way::shm, true) + bytes_of(steps, trace::Way::mpi, true),
            now.shm.sent_bytes - counted.shm.sent_bytes + now.mpi.sent_bytes - counted.mpi.sent_bytes);
}

/// Messages between pairs, whose ends are numbered pair by pair.
TEST(Trace, HasMessagesBetweenPairs) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::size_t before = recorded().operations.size();
  const Rank right{(comm.rank().value() + 1) % comm.size()},
      left{(comm.rank().value() + comm.size() - 1) % comm.size()};
  std::vector<float> out(7, 1), in(7);
  for (int i = 0; i < 3; ++i)
    sendrecv(std::span{std::as_const(out)}, right, std::span{in}, left, comm);
  Batch batch{comm};
  for (int i = 0; i < 2; ++i) {
    batch.send(std::span{std::as_const(out)}.subspan(static_cast<std::size_t>(i), 3), right);
    batch.recv(std::span{in}.subspan(static_cast<std::size_t>(3 * i), 3), left);
  }
  batch.start().wait();
  const tool::TracedJob job = recorded_by_all();
  const tool::TraceFile file = recorded();
  const std::vector<tool::TracedOperation> operations = since(file, before);
  ASSERT_EQ(operations.size(), 4);
  std::vector<std::uint64_t> sent;
  for (const tool::TracedOperation& operation : operations) {
    EXPECT_TRUE(operation.is_pairwise());
    EXPECT_EQ(file.names[operation.begun.collective], "messages");
    for (const trace::StepRecord& step : steps_of(file, operation))
      if (step.action == Action::send) sent.push_back(step.sequence);
  }
  EXPECT_EQ(operations[0].begun.bytes, comm.size() == 1 ? 0 : 28) << "a rank's message to itself is a copy";
  EXPECT_EQ(sent, comm.size() == 1 ? std::vector<std::uint64_t>{} : (std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(job.unmatched, 0);
}

/// On one clock, no message is there before it was sent; on several, not sooner than the clocks agree.
TEST(Trace, HasCausesBeforeEffects) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int32_t> data(50'000, 1), few(2, 1);
  for (const std::string_view algorithm : {"", "ring", "recursive_doubling", "rabenseifner", "two_shot"})
    for (int i = 0; i < 20; ++i) {
      allreduce(std::span{few}, Op::max, comm, {.algorithm = algorithm});
      if (i % 4 == 0) allreduce(std::span{data}, Op::max, comm, {.algorithm = algorithm});
    }
  const tool::TracedJob job = recorded_by_all();
  EXPECT_EQ(job.files.size(), static_cast<std::size_t>(world_size()));
  EXPECT_EQ(job.unmatched, 0);
  EXPECT_TRUE(world_size() == 1 || job.flows.size() > 100);
  for (const tool::Flow& flow : job.flows) {
    const trace::StepRecord& send = job.files[flow.send.file].steps[flow.send.index];
    const trace::StepRecord& recv = job.files[flow.recv.file].steps[flow.recv.index];
    EXPECT_GE(job.time(flow.recv.file, recv.end) + 2 * job.uncertainty, job.time(flow.send.file, send.begin));
    EXPECT_EQ(send.bytes, recv.bytes);
    EXPECT_TRUE(send.way == recv.way);
  }
  for (const tool::RankFigures& rank : tool::rank_figures(job)) {
    EXPECT_EQ(rank.entered > 0, world_size() > 1);
    EXPECT_LE(rank.last, rank.entered);
  }
}

/// A rank that sleeps keeps the others waiting, who wait for it, and it is the last to enter.
TEST(Trace, TellsWhoKeepsOthersWaiting) {
  if (world_size() < 2) GTEST_SKIP() << "alone, nobody waits";
  const Communicator comm{MPI_COMM_WORLD};
  const int late = comm.size() - 1;
  barrier(comm);
  const std::size_t before = recorded().operations.size();
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm.rank().value() == late) usleep(200'000);
  std::vector<std::int32_t> data(4, 1);
  broadcast(std::span{data}, Rank{late}, comm, {.algorithm = "knomial:64"});
  const tool::TraceFile own = recorded();
  const tool::TracedJob job = recorded_by_all();
  const tool::TracedOperation operation = since(own, before).front();
  std::int64_t waited = 0;
  for (const trace::WaitRecord& wait : own.waits)
    if (wait.operation == operation.begun.operation && wait.peer == late) waited += wait.idle;
  if (comm.rank().value() != late) {
    EXPECT_GT(waited, operation.end - operation.begun.begin - 100'000'000) << "but for other things that it did";
    EXPECT_GT(waited, 50'000'000);
  }
  for (const tool::Instance& instance : job.instances) {
    const tool::TracedCommunicator* const its = &job.communicators[static_cast<std::size_t>(instance.communicator)];
    const auto me = static_cast<std::uint32_t>(world_rank());
    if (instance.sequence != operation.begun.sequence || its != &job.communicator(me, operation.begun.operation))
      continue;
    const auto entry = [&](const tool::RecordIndex& of_rank) {
      return job.time(of_rank.file, job.files[of_rank.file].operations[of_rank.index].begun.begin);
    };
    const tool::RecordIndex last = std::ranges::max(instance.entries, {}, entry);
    const bool is_mine = job.files[last.file].rank == world_rank() && last.index + 1 == operation.begun.operation;
    EXPECT_EQ(is_mine, comm.rank().value() == late);
  }
}

TEST(Trace, HasNoFastPath) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int32_t> few(2, 1);
  for (int i = 0; i < 10; ++i)
    allreduce(std::span{few}, Op::max, comm);
  EXPECT_EQ(comm.counters().at("calls.fast_path"), 0);
}

/// Rank 0's environment counts. Communicators that are made without the variable are not recorded.
TEST(Trace, IsOfCommunicatorsMadeWithTheVariable) {
  const std::size_t before = recorded().communicators.size();
  const std::string folder = std::getenv("TUTTI_TRACE");
  for (const bool has_rank_0_it : {false, true}) {
    if ((world_rank() == 0) == has_rank_0_it)
      setenv("TUTTI_TRACE", folder.c_str(), 1);
    else
      unsetenv("TUTTI_TRACE");
    const Communicator comm{MPI_COMM_WORLD};
    expect_works(comm);
    EXPECT_EQ(recorded().communicators.size(), before + (has_rank_0_it ? 1 : 0));
  }
  setenv("TUTTI_TRACE", folder.c_str(), 1);
}

/// A failure is recorded, and written at once: the program may end.
TEST(Trace, HasFailures) {
  const Communicator comm{MPI_COMM_WORLD};
  if (comm.size() == 1) GTEST_SKIP() << "alone, no message fails";
  const std::size_t before = recorded().operations.size();
  const bool is_wrong = comm.rank().value() == comm.size() - 1;
  std::vector<std::int32_t> data(is_wrong ? 20 : 10, 1);
  try {
    broadcast(std::span{data}, Rank{0}, comm, {.algorithm = "knomial:64"});
    EXPECT_FALSE(is_wrong);
  } catch (const Error&) {
    EXPECT_TRUE(is_wrong);
    EXPECT_TRUE(since(read(own_path()), before).front().has_failed);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tutti::test
