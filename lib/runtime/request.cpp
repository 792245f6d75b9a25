#include "tutti/request.hpp"

#include <sched.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/explain.hpp"
#include "lib/runtime/operation.hpp"
#include "lib/runtime/streamed_call.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

void wait_for(detail::Operation& operation) {
  detail::Progress& progress = operation.communicator().progress();
  detail::Progress::Entry entry{progress};
  progress.wait(operation, entry);
  operation.rethrow();
}

bool test_for(detail::Operation& operation) {
  detail::Progress& progress = operation.communicator().progress();
  const detail::Progress::Entry entry{progress};
  if (!operation.over()) progress.advance_all();
  if (!operation.over()) progress.tested(operation);
  if (!operation.over()) return false;
  operation.rethrow();
  return true;
}

/// As Release, in calls that only the process itself makes: does not ask which process this is.
struct GiveBack {
  void operator()(detail::Operation* operation) const noexcept {
    std::shared_ptr<detail::CommunicatorState> state = std::move(operation->keep_alive);
    try {
      detail::Progress::Entry entry{state->progress()};
      state->progress().wait(*operation, entry);
      operation->plan().release(*operation);
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

void Request::wait() {
  if (operation_ == nullptr) return;
  UserFunctionRun::require_outside();  // before the request gives its operation away
  const std::unique_ptr<detail::Operation, GiveBack> done{operation_.release()};
  wait_for(*done);
}

bool Request::test() {
  if (operation_ == nullptr) return true;
  if (!test_for(*operation_)) return false;
  GiveBack{}(operation_.release());
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
  detail::Operation& own = operation();
  const detail::Progress::Entry entry{own.communicator().progress()};
  own.communicator().require_open();
  own.communicator().require_working();
  if (!own.over()) throw StateError("tutti: Plan::start on a plan that is still running; wait for it first");
  own.start(detail::Kind::persistent);
}

void Plan::wait() {
  if (streamed_ == nullptr) return wait_for(operation());
  for (int looks = 0; !look_at(*streamed_, looks); ++looks)
    sched_yield();  // outside of the lock, which the thread that moves operations may want
}

bool Plan::test() { return streamed_ == nullptr ? test_for(operation()) : look_at(*streamed_, 1); }

std::string_view Plan::algorithm() const {
  const detail::CachedPlan& plan = streamed_ == nullptr ? operation().plan() : streamed_->plan();
  const Algorithm* algorithm = plan.compiled.choice.algorithm;
  return algorithm == nullptr ? std::string_view{} : algorithm->name;
}

std::string Plan::explain() const { return streamed_ == nullptr ? detail::explain(operation()) : streamed_->explain(); }

}  // namespace tutti
