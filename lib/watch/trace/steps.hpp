#pragma once
// The steps of one run, as they are recorded.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/core/exec/port.hpp"
#include "lib/core/plan/compiled_plan.hpp"
#include "lib/watch/trace/clock.hpp"
#include "lib/watch/trace/writer.hpp"

namespace tutti::trace {

/// Messages between this rank and another that were part of no collective, each way.
struct PairCounts {
  std::uint64_t sent = 0, received = 0;
};

/// The operation that a run is part of: what the records of its steps refer to.
struct Subject {
  Writer* writer = nullptr;
  std::span<PairCounts> pairs{};  ///< By rank of the communicator.
  std::uint64_t operation = 0;
  std::uint64_t sequence = 0;
  const bool* is_waited_for =
      nullptr;  ///< Whether the program does nothing but wait for it; nullptr: that is not known.
};

/// Notes when each step of a run begins, and records it when it is over. A step that is posted again, as the transport
/// was busy, has begun when it was posted first.
class Steps {
 public:
  /// The call and the plan have to outlive it.
  Steps(Subject& call, const CompiledPlan& plan)
      : call_(&call),
        plan_(&plan),
        begun_(plan.steps.size() + 1),
        accepted_(plan.steps.size()),
        numbers_(plan.takes_turns ? 0 : plan.steps.size()) {}

  /// A run begins; the one before may have failed.
  void begin();
  /// Before a step is posted. Number: as for an executor.
  void post(int index) {
    if (std::int64_t& begun = begun_[static_cast<std::size_t>(index)]; begun == 0) begun = now();
  }
  /// A send has begun whose data have left before, in the pass that made them: in the latest poll, or since.
  void has_begun(int index) {
    if (std::int64_t& begun = begun_[static_cast<std::size_t>(index)]; begun == 0) begun = polled_at_;
  }
  /// Before the messages are polled.
  void poll() { polled_at_ = now(); }
  /// A message was posted.
  void posted(int index, Posted how) {
    if (how != Posted::busy) taken(index, how);
  }
  /// A message is over that was pending.
  void arrived(int index);
  /// The messages were polled.
  void polled(int moved) {
    if (moved == 0 && idle_since_ == 0 && is_waited_for()) idle_since_ = now();
    if (moved > 0 && idle_since_ != 0) pause_wait(now());
  }
  /// A copy, a reduction or the last pass is over.
  void worked(int index, Action action, std::int64_t bytes);

 private:
  void taken(int index, Posted how);
  void record_message(int index, std::int64_t end);
  [[nodiscard]] bool is_waited_for() const { return call_->is_waited_for != nullptr && *call_->is_waited_for; }
  [[nodiscard]] bool waits() const { return wait_begin_ != 0 || idle_since_ != 0; }
  [[nodiscard]] std::int64_t wait_begin() const { return wait_begin_ != 0 ? wait_begin_ : idle_since_; }
  void pause_wait(std::int64_t end);
  void end_wait(int peer, int index, std::int64_t end);

  Subject* call_;
  const CompiledPlan* plan_;
  std::vector<std::int64_t> begun_;     ///< Per step, and of the last pass; 0: not yet.
  std::int64_t polled_at_ = 0;          ///< Or when the run began.
  std::vector<std::int64_t> accepted_;  ///< Per step: when the transport took the message.
  std::vector<std::uint64_t> numbers_;  ///< Per step: the number of a message that is part of no collective.
  std::int64_t wait_begin_ = 0, idle_since_ = 0, idle_ = 0;  ///< Times of a wait; 0: there is none, or it is paused.
};

}  // namespace tutti::trace
