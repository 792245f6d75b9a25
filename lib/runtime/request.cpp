#include "tutti/request.hpp"

#include <cstdio>
#include <utility>

#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/explain.hpp"
#include "lib/runtime/operation.hpp"
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

}  // namespace

void detail::Release::operator()(Operation* operation) const noexcept {
  std::shared_ptr<CommunicatorState> state = std::move(operation->keep_alive);
  try {
    Progress::Entry entry{state->progress()};
    state->progress().wait(*operation, entry);
    operation->plan().release(*operation);
  } catch (const Error& error) {  // another thread than MPI allows, or a user's operation: it stays as it is
    operation->keep_alive = std::move(state);
    std::fprintf(stderr, "tutti: a request was destroyed where it could not be waited for: %s\n", error.what());
  }
}

void Request::wait() {
  if (operation_ == nullptr) return;
  UserFunctionRun::require_outside();  // before the request gives its operation away
  const detail::OwnedOperation done = std::move(operation_);
  wait_for(*done);
}

bool Request::test() {
  if (operation_ == nullptr) return true;
  if (!test_for(*operation_)) return false;
  operation_.reset();
  return true;
}

detail::Operation& Plan::operation() const {
  if (operation_ == nullptr) throw StateError("tutti: this plan was moved from");
  return *operation_;
}

void Plan::start() {
  detail::Operation& own = operation();
  const detail::Progress::Entry entry{own.communicator().progress()};
  own.communicator().require_open();
  own.communicator().require_working();
  if (!own.over()) throw StateError("tutti: Plan::start on a plan that is still running; wait for it first");
  own.start(detail::Kind::persistent);
}

void Plan::wait() { wait_for(operation()); }

bool Plan::test() { return test_for(operation()); }

std::string_view Plan::algorithm() const {
  const Algorithm* algorithm = operation().plan().compiled.choice.algorithm;
  return algorithm == nullptr ? std::string_view{} : algorithm->name;
}

std::string Plan::explain() const { return detail::explain(operation()); }

}  // namespace tutti
