#include "lib/device/call/streamed_call.hpp"

#include <fmt/format.h>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/run/explain.hpp"
#include "lib/device/driver/pending_waits.hpp"
#include "lib/device/stream/gate.hpp"
#include "lib/watch/log.hpp"

namespace tutti::detail {
namespace {

/// The program does not wait for a call in a stream.
constexpr bool is_waited_for = false;

constexpr const char* why_no_program =
    "its sum is exact, or its algorithm exchanges sizes first, or has no parts that fit into the memory";

/// Tutti's own streams have the greatest priority, and so queues of their own unless the program's streams have it,
/// too.
void warn_of_queues(const stream::Gates& gates) {
  static bool is_said = false;
  if (is_said || !gates.share_queues()) return;
  is_said = true;
  log::write(
      log::Level::warn, "",
      gates.in_words() +
          ": streams that share one wait for each other; CUDA_DEVICE_MAX_CONNECTIONS=32 makes more (docs/gpu.md)");
}

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
    : state_(state),
      plan_(plan),
      buffers_(buffers),
      stream_(stream),
      why_(why),
      observers_(state, plan, is_waited_for) {
  stream::Launcher* const launcher = state.streams().launcher();
  if (launcher != nullptr && launcher->device() != buffers.device)
    throw ArgumentError(fmt::format(
        "tutti::{} on rank {}: argument 'stream' is one of another device, or context, than the one that was "
        "current when the communicator was made; allowed: a stream of that one",
        to_string(plan.key().problem.collective), state.rank().value()));
  if (launcher != nullptr) pieces_ = plan.pieces(launcher->room());
  if (pieces_ == nullptr)
    state.runtime().require_progress_thread("a call with a stream, which the host has to move here,");
  ++plan_.operations.in_use;
}

StreamedCall::~StreamedCall() {
  settle(false);
  --plan_.operations.in_use;
}

void StreamedCall::start() {
  if (pieces_ == nullptr) return start_gated();
  stream::Launcher& launcher = *state_.streams().launcher();
  const auto failed = [&](const Error& error) {
    return fmt::format("{} on rank {}: {}", plan_.compiled().name(), state_.rank().value(), error.what());
  };
  try {
    launcher.enter(stream_);
  } catch (const Error& error) {  // as the stream's capture is lost
    throw Error("tutti: " + failed(error));
  }
  observers_.entered(state_.counters().stream.programs, records::Manner::in_stream, true, {buffers_.in, buffers_.out});
  try {
    launcher.launch(*pieces_, buffers_.in, buffers_.out, reach_, stream_);
    observers_.left();
  } catch (const Error& error) {
    observers_.failed();
    state_.poison(failed(error));
    throw Error("tutti: " + failed(error));
  }
}

void StreamedCall::start_gated() {
  if (stream::is_captured(stream_))
    throw Error(
        fmt::format("{}: a stream that is captured, though the host has to move this call, as {}", in_words(),
                    state_.streams().launcher() == nullptr ? state_.streams().why_no_launcher() : why_no_program));
  prepare_gates();
  // A stream takes so much work, and then lets this thread wait, though its lock is needed to move operations.
  constexpr int most_at_a_time = 32;
  for (int looks = 0; state_.streams().gated() >= most_at_a_time; ++looks)
    state_.progress().look_at_all(looks);
  state_.require_working();
  Operation& operation = bound_operation();
  operation.why = why_;
  ++state_.counters().stream.gated;
  stream::Gate* gate = nullptr;
  try {
    gate = &state_.streams().gates().add(buffers_.device, stream_);
  } catch (const Error& error) {
    operation.release();
    throw Error(fmt::format("{}: {}", in_words(), error.what()));
  }
  warn_of_queues(state_.streams().gates());
  operation.start_behind(*gate);
}

/// The first time, when no stream waits: memory is allocated.
void StreamedCall::prepare_gates() {
  stream::Gates& gates = state_.streams().gates();
  if (!gates.is_prepared(buffers_.device))
    for (int looks = 0; cuda::StreamWaits::any_pending(); ++looks)
      state_.progress().look_at_all(looks);
  gates.prepare(buffers_.device);
  state_.staging_memory().make_reserve(buffers_.device);
}

/// Moves operations until there is memory for it, if streams wait.
Operation& StreamedCall::bound_operation() {
  for (int looks = 0;; ++looks) {
    try {
      return plan_.operations.acquire(state_, buffers_.in, buffers_.out);
    } catch (const NoStagingMemory& missing) {
      if (!cuda::StreamWaits::any_pending())
        throw Error(fmt::format(
            "{}: {} for a call in a stream, which the host moves; allowed: fewer elements at a time, or as much free "
            "memory (docs/gpu.md)",
            in_words(), missing.what()));
    }
    state_.progress().look_at_all(looks);
    state_.require_working();
  }
}

std::string StreamedCall::in_words() const {
  return fmt::format("tutti::{} on rank {}", to_string(plan_.key().problem.collective), state_.rank().value());
}

void StreamedCall::remember_memory() {
  const auto is_used = [&](Buffer buffer) {
    return std::ranges::any_of(plan_.compiled().steps, [&](const CompiledStep& step) {
      return step.bytes > 0 && (step.lhs == buffer || step.rhs == buffer || step.into == buffer);
    });
  };
  watched_in_ = is_used(Buffer::input) ? buffers_.in : nullptr;
  watched_out_ = is_used(Buffer::output) ? buffers_.out : nullptr;
  buffers_.allocations = {allocation_of(watched_in_).id, allocation_of(watched_out_).id};
}

void StreamedCall::require_same_memory() const {
  if (buffers_.allocations.are_those_of(watched_in_, watched_out_)) return;
  throw Error(
      fmt::format("{}: a buffer of the plan was freed, or its address is other memory now; "
                  "allowed: the buffers with which the plan was made",
                  in_words()));
}

bool StreamedCall::is_for_all() const {
  const Problem& problem = plan_.key().problem;
  return pieces_ != nullptr && problem.size > 1 && !problem.uneven();
}

StreamedCall::Offer StreamedCall::lend() {
  reach_ = &state_.streams().launcher()->lend(buffers_.in, buffers_.out);
  return {reach_->mine(), plan_.key().problem.aliasing, observers_.call()};
}

stream::Reach::State StreamedCall::reach(std::span<const Offer> of_all) try {
  std::vector<stream::Loan> loans;
  std::vector<Aliasing> aliasings;
  for (const Offer& offer : of_all) {
    loans.push_back(offer.loan);
    aliasings.push_back(offer.aliasing);
  }
  if (!direct_) direct_ = plan_.direct_pieces(aliasings, state_.streams().launcher()->room());
  return direct_ ? reach_->map(direct_->programs[0].program, loans) : stream::Reach::State::refused;
} catch (const Error&) {  // peers wait for this rank's answer
  return stream::Reach::State::refused;
}

void StreamedCall::settle(bool is_reached) {
  if (is_reached) {
    pieces_ = &*direct_;
    return;
  }
  stream::Launcher* const launcher = state_.streams().launcher();  // none if the communicator is closed
  if (reach_ != nullptr && launcher != nullptr) launcher->give_back(*reach_);
  reach_ = nullptr;
  direct_.reset();
}

std::string StreamedCall::explain() const {
  const std::string text = detail::explain(state_, plan_, why_);
  if (pieces_ == nullptr)
    return text + fmt::format("; in a stream, moved by the host, as {}", state_.streams().launcher() == nullptr
                                                                             ? state_.streams().why_no_launcher()
                                                                             : why_no_program);
  const stream::Counts counts = counts_of(*pieces_);
  const bool lands = reach_ == nullptr || pieces_->programs[0].program.part_bytes > 0;
  return text + fmt::format("; in a stream: {} kernels, {} copies, {} waits for flags, {} programs; messages {}{}{}",
                            counts.kernels, counts.copies, counts.waits, pieces_->pieces.size(),
                            reach_ != nullptr ? "stay in the buffers of the ranks" : "",
                            reach_ != nullptr && lands ? " or " : "", lands ? "pass landing areas" : "");
}

}  // namespace tutti::detail
