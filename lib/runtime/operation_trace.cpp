#include "lib/runtime/operation_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>

#include "lib/runtime/plan_cache.hpp"
#include "lib/trace/clock.hpp"
#include "lib/trace/ranges.hpp"
#include "lib/transport/mpi/api.hpp"
#include "lib/transport/mpi/check.hpp"

namespace tutti::detail {
namespace {

using mpi::api;
using mpi::check;

/// The ranks of `comm` in MPI_COMM_WORLD; MPI_UNDEFINED for those of other worlds.
std::vector<int> in_world(MPI_Comm comm) {
  int size = 0, relation = MPI_UNEQUAL;
  check(api.Comm_size(comm, &size), "MPI_Comm_size");
  check(api.Comm_compare(comm, MPI_COMM_WORLD, &relation), "MPI_Comm_compare");
  std::vector<int> all(static_cast<std::size_t>(size)), translated(all.size());
  std::iota(all.begin(), all.end(), 0);
  if (relation == MPI_IDENT || relation == MPI_CONGRUENT) return all;
  mpi::UniqueGroup theirs, world;
  check(api.Comm_group(comm, theirs.receive()), "MPI_Comm_group");
  check(api.Comm_group(MPI_COMM_WORLD, world.receive()), "MPI_Comm_group");
  check(api.Group_translate_ranks(theirs.get(), size, all.data(), world.get(), translated.data()),
        "MPI_Group_translate_ranks");
  return translated;
}

std::uint64_t hash_of(const std::vector<int>& ranks) {
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15U;  // to begin with, too: small numbers do not meet
  std::uint64_t hash = prime * (ranks.size() + 1);
  for (const int rank : ranks) {
    hash = (hash ^ static_cast<std::uint32_t>(rank)) * prime;
    hash ^= hash >> 32U;
  }
  return hash;
}

bool is_pairwise(const CachedPlan& plan) { return plan.compiled.choice.algorithm == nullptr; }

/// Of the rank's input or output, the larger of the two; of messages: sent or received.
std::int64_t bytes_of(const CachedPlan& plan) {
  if (!is_pairwise(plan)) {
    const Shape shape = shape_of(plan.key().problem);
    return std::max(shape.input, shape.output).value() * size_of(plan.key().type).value();
  }
  std::int64_t sent = 0, received = 0;
  for (const CompiledStep& step : plan.compiled.steps)
    if (step.is_message() && step.transport != Transport::device)
      (step.verb == Verb::send ? sent : received) += step.bytes;
  return std::max(sent, received);
}

trace::Start start_of(Kind kind, bool gated) {
  if (gated) return trace::Start::stream;
  switch (kind) {
    case Kind::blocking:
      return trace::Start::blocking;
    case Kind::nonblocking:
      return trace::Start::nonblocking;
    case Kind::persistent:
      break;
  }
  return trace::Start::persistent;
}

/// All that is the same in every run.
trace::BeginRecord record_of(const CachedPlan& plan, trace::Writer& writer, std::uint32_t communicator) {
  const Problem& problem = plan.key().problem;
  trace::BeginRecord record{.communicator = communicator, .bytes = bytes_of(plan)};
  record.steps = static_cast<std::uint32_t>(plan.compiled.steps.size());
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

std::unique_ptr<CommunicatorTrace> CommunicatorTrace::make(Tracing& tracing, const Settings& settings,
                                                           const Members& members, int context, MPI_Comm comm) {
  trace::Writer* const writer = settings.trace.folder.empty() ? nullptr : tracing.writer();
  if (writer == nullptr && settings.ranges == RangeUse::off) return nullptr;
  std::unique_ptr<CommunicatorTrace> made{new CommunicatorTrace{writer, settings.ranges, members.size()}};
  if (writer == nullptr) return made;
  const std::uint64_t hash = hash_of(in_world(comm));
  made->number_ = writer->next_communicator();
  writer->add(trace::CommunicatorRecord{.number = made->number_,
                                        .members = hash,
                                        .context = context,
                                        .earlier = tracing.count_communicator(context, hash),
                                        .rank = members.me().value(),
                                        .size = members.size(),
                                        .node = members.node_of(members.me()),
                                        .nodes = members.node_count(),
                                        .made_at = trace::now()});
  return made;
}

std::unique_ptr<OperationTrace> CommunicatorTrace::operation(const CachedPlan& plan) {
  return std::make_unique<OperationTrace>(*this, plan);
}

OperationTrace::OperationTrace(CommunicatorTrace& communicator, const CachedPlan& plan)
    : communicator_(communicator), call_{.writer = communicator.writer_, .pairs = communicator.pairs_} {
  begun_.bytes = bytes_of(plan);
  if (call_.writer != nullptr) begun_ = record_of(plan, *call_.writer, communicator.number_);
  label_ = fmt::format("{}, {} bytes", plan.compiled.name(), begun_.bytes);
}

void OperationTrace::enter(Kind kind, std::uint64_t sequence, bool gated) { begin(start_of(kind, gated), sequence); }

void OperationTrace::enter_program() { begin(trace::Start::program, communicator_.programs_++); }

void OperationTrace::begin(trace::Start start, std::uint64_t sequence) {
  if (communicator_.ranges_ == RangeUse::on) range_ = trace::begin_range(label_.c_str(), begun_.bytes);
  if (call_.writer == nullptr) return;
  call_.operation = call_.writer->next_operation();
  call_.sequence = sequence;
  turn_ = 0;
  begun_.start = start;
  begun_.operation = call_.operation;
  begun_.sequence = sequence;
  begun_.begin = trace::now();
  call_.writer->add(begun_);
  call_.writer->settle(begun_.begin);
}

void OperationTrace::take_turn(std::uint64_t sequence) {
  if (call_.writer == nullptr) return;
  call_.sequence = sequence;
  if (turn_ == 0) turn_ = trace::now();
}

void OperationTrace::leave(bool has_failed) {
  if (communicator_.ranges_ == RangeUse::on) trace::end_range(range_);
  if (call_.writer == nullptr) return;
  const std::int64_t end = trace::now();
  call_.writer->add(trace::EndRecord{.has_failed = has_failed ? std::uint8_t{1} : std::uint8_t{0},
                                     .communicator = begun_.communicator,
                                     .operation = begun_.operation,
                                     .begin = begun_.begin,
                                     .turn = turn_,
                                     .end = end});
  if (has_failed)
    call_.writer->flush();
  else
    call_.writer->settle(end);
}

ProgramTrace::ProgramTrace(CommunicatorTrace* communicator, const CachedPlan& plan)
    : trace_(communicator == nullptr ? nullptr : communicator->operation(plan)),
      exceptions_(std::uncaught_exceptions()) {
  if (trace_ != nullptr) trace_->enter_program();
}

ProgramTrace::~ProgramTrace() {
  if (trace_ != nullptr) trace_->leave(std::uncaught_exceptions() > exceptions_);
}

}  // namespace tutti::detail
