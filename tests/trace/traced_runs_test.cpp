// Runs whose steps are recorded, on a network inside the process: the results are those of plain runs, and the records
// are exactly the steps of the plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "lib/watch/trace/traced_executor.hpp"
#include "lib/watch/trace/traced_port.hpp"
#include "tests/engine/engine_jobs.hpp"
#include "tests/trace/trace_files.hpp"

namespace tutti::test {
namespace {

using trace::Action;
using TracedRun = Execution<trace::TracedPort<FakePort>, trace::TracedExecutor<HostExecutor>>;

/// A rank of a job that is recorded: its file and its run.
struct TracedRank {
  TracedRank(const std::string& folder, int rank, const shm::SharedPlan& plan, FakeNetwork& network)
      : writer(folder, header_of(rank, plan.ranks), no_limit),
        pairs(static_cast<std::size_t>(plan.ranks)),
        call{.writer = &writer, .pairs = pairs, .is_waited_for = &is_waited_for},
        steps(call, plan),
        run(plan, trace::TracedPort<FakePort>{steps, FakePort{network, rank}},
            trace::TracedExecutor<HostExecutor>{HostExecutor{plan}, plan, steps}) {
    writer.begin();
    writer.add(trace::CommunicatorRecord{.rank = rank, .size = plan.ranks});
  }
  void begin(std::uint64_t sequence) {
    call.operation = writer.next_operation();
    call.sequence = sequence;
    begun = trace::now();
    writer.add(trace::BeginRecord{.operation = call.operation, .begin = begun, .sequence = sequence});
    run.begin();
  }
  void end() {
    writer.add(trace::EndRecord{.operation = call.operation, .begin = begun, .turn = begun, .end = trace::now()});
  }

  trace::Writer writer;
  std::vector<trace::PairCounts> pairs;
  bool is_waited_for = true;
  trace::Subject call;
  trace::Steps steps;
  TracedRun run;
  std::int64_t begun = 0;
};

/// All ranks of one allreduce.
class TracedAllreduce {
 public:
  TracedAllreduce(const std::string& folder, const std::vector<shm::SharedPlan>& plans, Count count, unsigned seed)
      : network_(seed), random_(seed) {
    const auto n = static_cast<std::size_t>(count.value());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      inputs_.emplace_back(n);
      std::iota(inputs_.back().begin(), inputs_.back().end(), static_cast<std::int32_t>(1000 * rank));
      outputs_.emplace_back(n, -1);
      ranks_.push_back(std::make_unique<TracedRank>(folder, static_cast<int>(rank), plans[rank], network_));
    }
  }
  void run(std::uint64_t sequence) {
    std::vector<bool> over(ranks_.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank]->run.bind(inputs_[rank].data(), outputs_[rank].data());
      ranks_[rank]->begin(sequence);
    }
    for (std::size_t left = ranks_.size(); left > 0; network_.move_one()) {
      const std::size_t rank = random_() % ranks_.size();
      if (over[rank] || !ranks_[rank]->run.advance()) continue;
      ranks_[rank]->end();
      over[rank] = true;
      --left;
    }
  }
  [[nodiscard]] const std::vector<Values>& outputs() const { return outputs_; }
  tool::TraceFile file(std::size_t rank) {
    ranks_[rank]->writer.finish();
    return read(ranks_[rank]->writer.path());
  }

 private:
  FakeNetwork network_;
  std::mt19937 random_;
  std::vector<Values> inputs_, outputs_;
  std::vector<std::unique_ptr<TracedRank>> ranks_;
};

/// What a plan does, as its records would have it: by action, peer, message, bytes and step.
using Facts = std::multiset<std::tuple<Action, int, int, std::int64_t, int>>;

Facts facts_of(const CompiledPlan& plan) {
  Facts facts;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const CompiledStep& step = plan.steps[i];
    const int at = static_cast<int>(i);
    switch (step.verb) {
      case Verb::send:
        facts.emplace(Action::send, step.peer, step.message, step.bytes, at);
        break;
      case Verb::recv:
        facts.emplace(Action::recv, step.peer, step.message, step.bytes, at);
        break;
      case Verb::recv_reduce:
        facts.emplace(Action::recv_reduce, step.peer, step.message, step.bytes, at);
        break;
      case Verb::recv_then_reduce:
        facts.emplace(Action::recv, step.peer, step.message, step.bytes, at);
        [[fallthrough]];
      case Verb::reduce:
      case Verb::combine:
        if (step.bytes > 0) facts.emplace(Action::reduce, -1, 0, step.bytes, at);
        break;
      case Verb::copy:
        if (step.bytes > 0) facts.emplace(Action::copy, -1, 0, step.bytes, at);
        break;
    }
  }
  if (needs_finish(plan.op) && plan.count > 0)
    facts.emplace(Action::finish, -1, 0, plan.count * plan.element, static_cast<int>(plan.steps.size()));
  return facts;
}

Facts facts_of(const tool::TraceFile& file, std::uint64_t operation) {
  Facts facts;
  for (const trace::StepRecord& step : file.steps)
    if (step.operation == operation) facts.emplace(step.action, step.peer, step.message, step.bytes, step.step);
  return facts;
}

TEST(TracedRuns, RecordExactlyTheStepsOfThePlans) {
  constexpr int runs = 2;
  for (const Algorithm* algorithm : allreduces())
    for (int size = 1; size <= 5; ++size)
      for (const Count count : {Count{0}, Count{1}, Count{29}})
        for (const Op& op : {Op::sum, Op::avg}) {
          const TemporaryFolder folder;
          const auto plans = plans_of(*algorithm, size, count, Aliasing::separate(), 1, op);
          TracedAllreduce job{folder.path(), plans, count, static_cast<unsigned>(size)};
          for (int run = 0; run < runs; ++run)
            job.run(static_cast<std::uint64_t>(run));
          for (const Values& output : job.outputs())
            EXPECT_TRUE(op == Op::avg || output == sum_of_ranks(size, count)) << algorithm->name << " p=" << size;
          for (std::size_t rank = 0; rank < plans.size(); ++rank) {
            const tool::TraceFile file = job.file(rank);
            for (std::uint64_t operation = 1; operation <= runs; ++operation)
              EXPECT_EQ(facts_of(file, operation), facts_of(plans[rank])) << algorithm->name << " p=" << size;
          }
        }
}

/// Steps lie inside their operations, messages of one sequence number belong together, and times follow each other.
TEST(TracedRuns, RecordTimesInOrder) {
  const TemporaryFolder folder;
  const auto plans = plans_of(*find_algorithm(Collective::allreduce, "ring"), 4, Count{64}, Aliasing::separate(), 1);
  TracedAllreduce job{folder.path(), plans, Count{64}, 7};
  for (std::uint64_t run = 0; run < 20; ++run)
    job.run(run);
  std::size_t waits = 0, refused = 0;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    const tool::TraceFile file = job.file(rank);
    for (const trace::StepRecord& step : file.steps) {
      const tool::TracedOperation& operation = file.operations[step.operation - 1];
      EXPECT_LE(operation.begun.begin, step.begin);
      EXPECT_LE(step.begin, step.accepted);
      EXPECT_LE(step.accepted, step.end);
      EXPECT_LE(step.end, operation.end);
      EXPECT_EQ(step.sequence, operation.begun.sequence);
      refused += step.accepted - step.begin > 0 ? 1 : 0;
    }
    std::int64_t last = 0;
    for (const trace::WaitRecord& wait : file.waits) {
      EXPECT_LE(last, wait.begin) << "a rank waits for one thing at a time";
      EXPECT_LE(wait.end, file.operations[wait.operation - 1].end);
      EXPECT_GT(wait.idle, 0);
      EXPECT_EQ(wait.peer, plans[rank].steps[static_cast<std::size_t>(wait.step)].peer);
      last = wait.end;
    }
    waits += file.waits.size();
  }
  EXPECT_GT(waits, 50);
  EXPECT_GT(refused, 50) << "the network is busy now and then";
}

TEST(TracedRuns, DoNotWaitUnlessTheProgramDoes) {
  const TemporaryFolder folder;
  const auto plans = plans_of(*find_algorithm(Collective::allreduce, "ring"), 2, Count{4}, Aliasing::separate(), 1);
  trace::Writer writer{folder.path(), header_of(0, 2), no_limit};
  writer.begin();
  writer.add(trace::CommunicatorRecord{.size = 2});
  writer.add(trace::BeginRecord{.operation = writer.next_operation()});
  std::vector<trace::PairCounts> pairs(2);
  trace::Subject call{.writer = &writer, .pairs = pairs, .operation = 1};
  trace::Steps steps{call, plans[0]};
  const auto message =
      static_cast<int>(std::ranges::find_if(plans[0].steps, [](const CompiledStep& step) { return step.receives(); }) -
                       plans[0].steps.begin());
  bool waits = false;
  call.is_waited_for = &waits;
  for (int run = 0; run < 2; ++run) {
    waits = false;
    steps.begin();
    steps.post(message);
    steps.posted(message, Posted::pending);
    waits = run == 1;
    steps.polled(0);
    steps.polled(0);
    steps.arrived(message);
    steps.polled(1);
  }
  writer.finish();
  const tool::TraceFile file = read(writer.path());
  EXPECT_EQ(file.steps.size(), 2);
  EXPECT_EQ(file.waits.size(), 1);
}

/// Messages that are part of no collective have numbers of their own, from operation to operation.
TEST(TracedRuns, NumberMessagesOfPairs) {
  const TemporaryFolder folder;
  shm::SharedPlan plan;
  plan.ranks = 2;
  plan.takes_turns = false;
  for (const Verb verb : {Verb::send, Verb::recv, Verb::send})
    plan.steps.push_back({.verb = verb, .peer = 1, .bytes = 4});
  trace::Writer writer{folder.path(), header_of(0, 2), no_limit};
  writer.begin();
  writer.add(trace::CommunicatorRecord{.size = 2});
  std::vector<trace::PairCounts> pairs(2);
  trace::Subject call{.writer = &writer, .pairs = pairs};
  trace::Steps steps{call, plan};
  for (int run = 0; run < 2; ++run) {
    call.operation = writer.next_operation();
    writer.add(trace::BeginRecord{.flags = trace::BeginRecord::pairwise, .operation = call.operation});
    steps.begin();
    for (int step = 0; step < 3; ++step) {
      steps.post(step);
      steps.posted(step, Posted::busy);
      steps.posted(step, Posted::complete);
    }
  }
  writer.finish();
  std::vector<std::uint64_t> sent, received;
  for (const trace::StepRecord& step : read(writer.path()).steps) {
    EXPECT_EQ(step.is_pairwise, 1);
    (step.action == Action::send ? sent : received).push_back(step.sequence);
  }
  EXPECT_EQ(sent, (std::vector<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(received, (std::vector<std::uint64_t>{0, 1}));
}

}  // namespace
}  // namespace tutti::test
