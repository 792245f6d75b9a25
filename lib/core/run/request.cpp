#include "tutti/request.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/run/explain.hpp"
#include "lib/core/run/joint_call.hpp"
#include "lib/core/run/matching.hpp"
#include "lib/core/run/operation.hpp"
#include "lib/device/call/streamed_call.hpp"
#include "tutti/error.hpp"

namespace tutti {

void detail::wait_on(Operation& operation) {
  Progress& progress = operation.communicator().progress();
  Progress::Entry entry{progress};
  progress.wait(operation, entry);
  operation.rethrow();
}

bool detail::test_on(Operation& operation) {
  Progress& progress = operation.communicator().progress();
  const Progress::Entry entry{progress};
  if (!operation.over()) progress.advance_all();
  if (!operation.over()) progress.tested(operation);
  if (!operation.over()) return false;
  operation.rethrow();
  return true;
}

bool detail::wait_until(Operation& operation, std::int64_t end) {
  Progress& progress = operation.communicator().progress();
  Progress::Entry entry{progress};
  if (!progress.wait_until(operation, entry, end)) return false;
  operation.rethrow();
  return true;
}

namespace {

/// On the clock of records::coarse_now(); far off for all longer times.
std::int64_t end_after(std::chrono::duration<double> time) {
  constexpr double longest = 1e9;  // seconds, which nobody waits for
  const double nanoseconds = 1e9 * std::clamp(time.count(), 0.0, longest);
  return records::coarse_now() + static_cast<std::int64_t>(nanoseconds);
}

/// Does what Release does, but does not ask which process this is: only the process itself makes these calls.
struct GiveBack {
  void operator()(detail::Operation* operation) const noexcept {
    std::shared_ptr<detail::Workspace> state = std::move(operation->keep_alive);
    try {
      detail::Progress::Entry entry{state->progress()};
      state->progress().wait(*operation, entry);
      operation->release();
    } catch (const Error& error) {  // another thread than MPI allows, or a user's operation: it stays as it is
      operation->keep_alive = std::move(state);
      std::fprintf(stderr, "tutti: a request was destroyed where it could not be waited for: %s\n", error.what());
    }
  }
};

}  // namespace

/// In a child of a fork nothing: the messages are its parent's, and the communicator's state stays.
void detail::Release::operator()(Operation* operation) const noexcept {
  if (operation->keep_alive->is_of_this_process()) GiveBack{}(operation);
}

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// Looks at messages with tags until they are over, or until `end`. Whether they are over; their errors stay.
bool look_until(const detail::TaggedCall& call, std::int64_t end) {
  detail::Progress& progress = call.state->progress();
  detail::Progress::Entry entry{progress};
  for (int looks = 0; !call.is_over(); ++looks) {
    if (looks > 0 && records::coarse_now() >= end) return false;
    if (looks > 0) entry.pause();
    progress.look_at_all(looks);
  }
  return true;
}

bool wait_until(detail::TaggedCall& call, std::int64_t end) {
  if (!look_until(call, end)) return false;
  call.rethrow();
  return true;
}

}  // namespace

bool detail::TaggedCall::is_over() const {
  return std::ranges::all_of(messages, [](const auto& message) { return message->is_over; });
}

void detail::TaggedCall::rethrow() {
  for (const auto& message : messages)
    if (message->failure != nullptr) std::rethrow_exception(std::exchange(message->failure, nullptr));
}

/// Does what Release does, for messages with tags.
void detail::ReleaseTagged::operator()(TaggedCall* call) const noexcept {
  if (!call->state->is_of_this_process()) return;
  try {
    static_cast<void>(look_until(*call, never));
  } catch (const Error& error) {  // it stays as it is
    std::fprintf(stderr, "tutti: a request was destroyed where it could not be waited for: %s\n", error.what());
    return;
  }
  delete call;
}

void Request::wait() {
  UserFunctionRun::require_outside();  // before the request gives anything away
  const detail::OwnedTaggedCall tagged = std::move(tagged_);
  if (const detail::OwnedJointCall joint = std::move(joint_)) joint->wait();
  if (const std::unique_ptr<detail::Operation, GiveBack> done{operation_.release()}) wait_on(*done);
  if (tagged != nullptr) static_cast<void>(wait_until(*tagged, never));
}

bool Request::test() { return wait_for(std::chrono::duration<double>{-1}); }

bool Request::wait_for(std::chrono::duration<double> time) {
  const bool looks_once = time.count() < 0;
  const std::int64_t end = looks_once ? 0 : end_after(time);
  if (joint_ != nullptr) {
    if (!(looks_once ? joint_->test() : joint_->wait_until(end))) return false;
    joint_.reset();
  }
  if (operation_ != nullptr) {
    if (!(looks_once ? test_on(*operation_) : wait_until(*operation_, end))) return false;
    GiveBack{}(operation_.release());
  }
  if (tagged_ == nullptr) return true;
  if (!wait_until(*tagged_, end)) return false;
  tagged_.reset();
  return true;
}

bool Request::cancel() {
  if (tagged_ == nullptr) return operation_ == nullptr && joint_ == nullptr;
  if (operation_ != nullptr || tagged_->messages.size() != 1) return false;
  const detail::Progress::Entry entry{tagged_->state->progress()};
  detail::Matching* const matching = tagged_->state->matching();
  if (matching == nullptr || !matching->take_back(*tagged_->messages.front())) return false;
  delete tagged_.release();
  return true;
}

detail::Operation& Plan::operation() const {
  if (operation_ == nullptr) throw StateError("tutti: this plan was moved from");
  return *operation_;
}

namespace {

void start_in_stream(detail::StreamedCall& call) {
  const detail::Progress::Entry entry{call.communicator().progress()};
  call.communicator().require_open();
  call.communicator().require_working();
  call.require_same_memory();
  call.start();
}

/// True: it is over. Throws Error if the communicator has failed.
bool look_at(detail::StreamedCall& call, int looks) {
  detail::CommunicatorState& state = call.communicator();
  const detail::Progress::Entry entry{state.progress()};
  static_cast<void>(state.status());
  state.require_working();
  if (call.is_over()) return true;
  state.progress().look_at_all(looks);
  return false;
}

}  // namespace

void detail::ReleaseStreamedCall::operator()(StreamedCall* call) const noexcept {
  const std::shared_ptr<CommunicatorState> state = call->keep_alive;
  if (!state->is_of_this_process()) return;
  try {
    const Progress::Entry entry{state->progress()};
    delete call;
  } catch (const Error&) {  // another thread than MPI allows: its plan stays in use
  }
}

void Plan::start() {
  if (streamed_ != nullptr) return start_in_stream(*streamed_);
  if (joint_ != nullptr) return joint_->start_again();
  detail::Operation& own = operation();
  const detail::Progress::Entry entry{own.communicator().progress()};
  own.communicator().require_open();
  own.communicator().require_working();
  if (!own.over()) throw StateError("tutti: Plan::start on a plan that is still running; wait for it first");
  own.start(records::Manner::persistent);
}

void Plan::wait() {
  if (joint_ != nullptr) return joint_->wait();
  if (streamed_ == nullptr) return wait_on(operation());
  for (int looks = 0; !look_at(*streamed_, looks); ++looks)
    sched_yield();  // outside of the lock, which the thread that moves operations may want
}

bool Plan::wait_for(std::chrono::duration<double> time) {
  const std::int64_t end = end_after(time);
  if (joint_ != nullptr) return joint_->wait_until(end);
  if (streamed_ == nullptr) return wait_until(operation(), end);
  for (int looks = 0; !look_at(*streamed_, looks); ++looks) {
    if (records::coarse_now() >= end) return false;
    sched_yield();
  }
  return true;
}

bool Plan::test() {
  if (joint_ != nullptr) return joint_->test();
  return streamed_ == nullptr ? test_on(operation()) : look_at(*streamed_, 1);
}

std::string_view Plan::algorithm() const {
  const detail::Operation* const first = joint_ != nullptr ? &joint_->first() : nullptr;
  const detail::PreparedPlan& plan = first != nullptr       ? first->plan()
                                     : streamed_ == nullptr ? operation().plan()
                                                            : streamed_->plan();
  const Algorithm* algorithm = plan.compiled().choice.algorithm;
  return algorithm == nullptr ? std::string_view{} : algorithm->name;
}

std::string Plan::explain() const {
  if (joint_ != nullptr) return joint_->explain();
  return streamed_ == nullptr ? detail::explain(operation()) : streamed_->explain();
}

}  // namespace tutti
