#include "lib/runtime/streamed_call.hpp"

#include <fmt/format.h>

#include "lib/memory/memory_kind.hpp"
#include "lib/runtime/explain.hpp"
#include "lib/runtime/operation.hpp"
#include "lib/runtime/runtime.hpp"
#include "lib/transport/stream/gate.hpp"

namespace tutti::detail {
namespace {

constexpr const char* why_no_program = "its algorithm exchanges sizes first, or has no parts that fit into the memory";

stream::Counts counts_of(const stream::Pieces& pieces) {
  stream::Counts all;
  for (const stream::Piece& piece : pieces.pieces) {
    const stream::Counts its = stream::counts_of(pieces.programs[piece.program].program);
    all.kernels += its.kernels;
    all.copies += its.copies;
    all.waits += its.waits;
    all.writes += its.writes;
  }
  return all;
}

}  // namespace

StreamedCall::StreamedCall(CommunicatorState& state, CachedPlan& plan, const Buffers& buffers, CUstream_st* stream,
                           std::string_view why)
    : state_(state), plan_(plan), buffers_(buffers), stream_(stream), why_(why) {
  stream::Launcher* const launcher = state.streams().launcher();
  if (launcher != nullptr && launcher->device() != buffers.device)
    throw ArgumentError(fmt::format(
        "tutti::{} on rank {}: argument 'stream' is one of another device, or context, than the one that was "
        "current when the communicator was made; allowed: a stream of that one",
        to_string(plan.key().problem.collective), state.rank().value()));
  if (launcher != nullptr) pieces_ = plan.pieces(launcher->room());
  if (pieces_ == nullptr) {
    if (stream::is_captured(stream))
      throw Error(
          fmt::format("tutti::{} on rank {}: a stream that is captured, though the host has to move this call, as "
                      "{}",
                      to_string(plan.key().problem.collective), state.rank().value(),
                      launcher == nullptr ? state.streams().why_no_launcher() : why_no_program));
    state.runtime().require_progress_thread("a call with a stream, which the host has to move here,");
  }
  ++plan_.in_use;
}

StreamedCall::~StreamedCall() { --plan_.in_use; }

void StreamedCall::start() {
  if (pieces_ == nullptr) return start_gated();
  try {
    state_.streams().launcher()->launch(*pieces_, buffers_.in, buffers_.out, stream_);
  } catch (const Error& error) {  // perhaps after a part of it
    std::string why = fmt::format("{} on rank {}: {}", plan_.compiled.name(), state_.rank().value(), error.what());
    state_.poison(why);
    throw Error("tutti: " + std::move(why));
  }
}

void StreamedCall::start_gated() {
  state_.staging_memory().make_reserve(buffers_.device);
  Operation& operation = bound_operation();
  operation.why = why_;
  ++state_.counters().stream.gated;
  std::unique_ptr<stream::Gate> gate;
  try {
    gate = state_.streams().gates().add(buffers_.device, stream_);
  } catch (...) {
    plan_.release(operation);
    throw;
  }
  operation.start_behind(std::move(gate));
}

Operation& StreamedCall::bound_operation() try {
  return bound(plan_, state_, buffers_.in, buffers_.out);
} catch (const NoStagingMemory& missing) {
  throw Error(
      fmt::format("tutti::{} on rank {}: {} for a call in a stream, which the host moves; allowed: fewer elements "
                  "at a time, or as much free memory (docs/gpu.md)",
                  to_string(plan_.key().problem.collective), state_.rank().value(), missing.what()));
}

void StreamedCall::remember_memory() {
  buffers_.allocations = {allocation_of(buffers_.in).id, allocation_of(buffers_.out).id};
}

void StreamedCall::require_same_memory() const {
  if (buffers_.allocations.are_those_of(buffers_.in, buffers_.out)) return;
  throw Error(
      fmt::format("tutti::{} on rank {}: a buffer of the plan was freed, or its address is other memory now; "
                  "allowed: the buffers with which the plan was made",
                  to_string(plan_.key().problem.collective), state_.rank().value()));
}

std::string StreamedCall::explain() const {
  const std::string text = detail::explain(state_, plan_, why_);
  if (pieces_ == nullptr)
    return text + fmt::format("; in a stream, moved by the host, as {}", state_.streams().launcher() == nullptr
                                                                             ? state_.streams().why_no_launcher()
                                                                             : why_no_program);
  const stream::Counts counts = counts_of(*pieces_);
  return text + fmt::format("; in a stream: {} kernels, {} copies, {} waits for flags, {} programs", counts.kernels,
                            counts.copies, counts.waits, pieces_->pieces.size());
}

}  // namespace tutti::detail
