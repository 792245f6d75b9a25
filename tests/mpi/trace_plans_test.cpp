// Traces of every collective and algorithm: exactly the steps of their plans, and the bytes of the counters.
#include <gmock/gmock.h>

#include <set>
#include <utility>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/mpi/collective_cases.hpp"
#include "tests/mpi/recorded_traces.hpp"

namespace tutti::test {
namespace {

using trace::Action;

/// Calls twice, as the plan of a call is known when it was repeated.
const CompiledPlan& called_twice(const Trial& trial, const Communicator& comm) {
  const checker::Problems problems = problems_of(trial, comm.size());
  const Problem& problem = problems.of(comm.rank());
  const std::vector<std::int32_t> input =
      inputs<std::int32_t>(Op::sum, comm.rank().value(), shape_of(problem).input.value());
  CallMemory<std::int32_t> memory{problem, input, 0};
  detail::Call call = call_of(trial, problem, Type::int32, Op::sum);
  call.in = memory.in();
  call.out = memory.out();
  for (int again = 0; again < 2; ++again)
    run(call, trial, comm);
  const auto found = comm.state().plans().recent_calls().find({}, [](const auto&) { return true; });
  return found.recent.plan->plan().compiled();
}

/// Messages by direction, peer and bytes.
using Messages = std::multiset<std::tuple<bool, int, std::int64_t>>;

Messages messages_of(const CompiledPlan& plan) {
  Messages messages;
  for (const CompiledStep& step : plan.steps)
    if (step.is_message()) messages.emplace(step.verb == Verb::send, step.peer, step.bytes);
  return messages;
}
Messages messages_of(const std::vector<trace::StepRecord>& steps) {
  Messages messages;
  for (const trace::StepRecord& step : steps)
    if (step.action <= Action::recv_reduce) messages.emplace(step.action == Action::send, step.peer, step.bytes);
  return messages;
}

/// Calls of one kind, and what their plan and the counters say of them.
struct Called {
  std::string choice;
  Messages planned{};
  MessageCounters before{}, after{};
};

class TraceOf : public testing::TestWithParam<Collective> {
 protected:
  void expect_recorded(const tool::TraceFile& file, const Called& called) {
    std::vector<trace::StepRecord> all;
    for (int call = 0; call < calls; ++call, ++next_) {
      const tool::TracedOperation& operation = file.operations.at(next_);
      const std::vector<trace::StepRecord> steps = steps_of(file, operation);
      all.insert(all.end(), steps.begin(), steps.end());
      EXPECT_TRUE(operation.is_over() && !operation.has_failed);
      EXPECT_EQ(file.names[operation.begun.collective], to_string(GetParam()));
      EXPECT_EQ(operation.begun.sequence, sequence_++);
      EXPECT_EQ(messages_of(steps), called.planned) << called.choice;
    }
    const auto expect_bytes = [&](trace::Way way, const MessageCounters::Transport& now,
                                  const MessageCounters::Transport& then) {
      EXPECT_EQ(bytes_of(all, way, true), now.sent_bytes - then.sent_bytes) << called.choice;
      EXPECT_EQ(bytes_of(all, way, false), now.received_bytes - then.received_bytes) << called.choice;
    };
    expect_bytes(trace::Way::shm, called.after.shm, called.before.shm);
    expect_bytes(trace::Way::mpi, called.after.mpi, called.before.mpi);
  }
  static constexpr int calls = 3;
  std::size_t next_ = 0;
  std::uint64_t sequence_ = 0;
};

/// Every algorithm, with short messages and with long ones that travel in pieces.
TEST_P(TraceOf, ExactlyWhatThePlansDo) {
  const Communicator comm{MPI_COMM_WORLD};
  next_ = recorded().operations.size();
  std::vector<Called> all;
  for (const std::string& choice : choices_of(GetParam()))
    for (const std::int64_t count : {3, 20'000}) {
      if (GetParam() == Collective::barrier && count > 3) continue;
      if (count > 3 && choice.find_first_of(":/") != std::string::npos) continue;  // thousands of segments
      const Trial trial{.collective = GetParam(), .algorithm = choice, .count = count};
      Called called{.choice = choice, .before = comm.message_counters()};
      called.planned = messages_of(called_twice(trial, comm));
      expect_right<std::int32_t>(trial, Op::sum, comm);
      called.after = comm.message_counters();
      all.push_back(std::move(called));
    }
  const tool::TraceFile file = recorded();
  EXPECT_EQ(file.operations.size(), next_ + calls * all.size());
  for (const Called& called : all)
    expect_recorded(file, called);
}

INSTANTIATE_TEST_SUITE_P(All, TraceOf, testing::ValuesIn(all_collectives()),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

}  // namespace
}  // namespace tutti::test
