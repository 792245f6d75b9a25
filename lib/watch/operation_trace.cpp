#include "lib/watch/operation_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/transport/mpi/handles.hpp"
#include "lib/watch/trace/clock.hpp"
#include "lib/watch/trace/ranges.hpp"

namespace tutti::detail {
namespace {

std::uint64_t hash_of(const std::vector<int>& ranks) {
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15U;  // to begin with, too: small numbers do not meet
  std::uint64_t hash = prime * (ranks.size() + 1);
  for (const int rank : ranks) {
    hash = (hash ^ static_cast<std::uint32_t>(rank)) * prime;
    hash ^= hash >> 32U;
  }
  return hash;
}

bool is_pairwise(const PreparedPlan& plan) { return plan.compiled().choice.algorithm == nullptr; }

/// The bytes of the rank's input or output, the larger of the two; of messages: sent or received.
std::int64_t bytes_of(const PreparedPlan& plan) {
  if (!is_pairwise(plan)) {
    const Shape shape = shape_of(plan.key().problem);
    return std::max(shape.input, shape.output).value() * size_of(plan.key().type).value();
  }
  std::int64_t sent = 0, received = 0;
  for (const CompiledStep& step : plan.compiled().steps)
    if (step.is_message() && step.transport != Transport::device)
      (step.verb == Verb::send ? sent : received) += step.bytes;
  return std::max(sent, received);
}

trace::Start start_of(records::Manner manner, bool for_stream) {
  if (manner == records::Manner::in_stream) return trace::Start::program;
  if (for_stream) return trace::Start::stream;
  switch (manner) {
    case records::Manner::blocking:
      return trace::Start::blocking;
    case records::Manner::nonblocking:
      return trace::Start::nonblocking;
    default:
      return trace::Start::persistent;
  }
}

/// All that is the same in every run.
trace::BeginRecord record_of(const PreparedPlan& plan, trace::Writer& writer, std::uint32_t communicator) {
  const Problem& problem = plan.key().problem;
  trace::BeginRecord record{.communicator = communicator, .bytes = bytes_of(plan)};
  record.steps = static_cast<std::uint32_t>(plan.compiled().steps.size());
  if (is_pairwise(plan)) {
    record.flags = trace::BeginRecord::pairwise;
    record.collective = writer.name("messages");
    return record;
  }
  if (plan.exchanges()) record.flags = trace::BeginRecord::exchanges;
  record.count = problem.uneven() ? 0 : problem.count.value();
  record.collective = writer.name(to_string(problem.collective));
  record.algorithm = writer.name(to_text(plan.key().choice));
  if (problem.collective != Collective::barrier) record.type = writer.name(to_string(plan.key().type));
  if (reduces(problem.collective)) record.op = writer.name(to_string(plan.key().op.kind()));
  if (has_root(problem.collective)) record.root = problem.root.value();
  return record;
}

}  // namespace

std::unique_ptr<CommunicatorTrace> CommunicatorTrace::make(const Membership& communicator, MPI_Comm comm) {
  const Settings& settings = communicator.settings();
  const Members& members = communicator.members();
  Tracing& tracing = communicator.runtime().tracing();
  trace::Writer* const writer = settings.trace.folder.empty() ? nullptr : tracing.writer();
  if (writer == nullptr && settings.ranges == RangeUse::off) return nullptr;
  std::unique_ptr<CommunicatorTrace> made{new CommunicatorTrace{writer, settings.ranges, members.size()}};
  if (writer == nullptr) return made;
  const std::uint64_t hash = hash_of(mpi::translated_ranks(comm, MPI_COMM_WORLD));
  made->number_ = writer->next_communicator();
  writer->add(trace::CommunicatorRecord{.number = made->number_,
                                        .members = hash,
                                        .context = communicator.context(),
                                        .earlier = tracing.count_communicator(communicator.context(), hash),
                                        .rank = members.me().value(),
                                        .size = members.size(),
                                        .node = members.node_of(members.me()),
                                        .nodes = members.node_count(),
                                        .made_at = trace::now()});
  return made;
}

TracedCall::TracedCall(CommunicatorTrace& communicator, const PreparedPlan& plan, const bool& is_waited_for)
    : communicator_(communicator),
      subject_{.writer = communicator.writer_, .pairs = communicator.pairs_, .is_waited_for = &is_waited_for},
      begun_(record_of(plan, *communicator.writer_, communicator.number_)) {}

void TracedCall::entered(const Entrance& run) {
  trace::Writer& writer = *communicator_.writer_;
  begun_.start = start_of(run.call.manner, run.for_stream);
  begun_.operation = subject_.operation = writer.next_operation();
  begun_.sequence = subject_.sequence =
      begun_.start == trace::Start::program ? communicator_.programs_++ : run.sequence;
  turn_ = 0;
  begun_.begin = trace::now();
  writer.add(begun_);
  writer.settle(begun_.begin);
}

void TracedCall::started(std::uint64_t sequence) {
  subject_.sequence = sequence;
  if (turn_ == 0) turn_ = trace::now();
}

void TracedCall::end(bool has_failed) {
  trace::Writer& writer = *communicator_.writer_;
  const std::int64_t end = trace::now();
  writer.add(trace::EndRecord{.has_failed = has_failed ? std::uint8_t{1} : std::uint8_t{0},
                              .communicator = begun_.communicator,
                              .operation = begun_.operation,
                              .begin = begun_.begin,
                              .turn = turn_,
                              .end = end});
  if (has_failed)
    writer.flush();
  else
    writer.settle(end);
}

RangeOfCall::RangeOfCall(const PreparedPlan& plan)
    : bytes_(bytes_of(plan)), label_(fmt::format("{}, {} bytes", plan.compiled().name(), bytes_)) {}

void RangeOfCall::entered(const Entrance& /*run*/) { range_ = trace::begin_range(label_.c_str(), bytes_); }

void RangeOfCall::left() { trace::end_range(range_); }

}  // namespace tutti::detail
