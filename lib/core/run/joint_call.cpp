#include "lib/core/run/joint_call.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/run/explain.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void JointCall::add(Operation& operation) {
  operations_.push_back(owned(operation, state_));
  ended_ = operations_.size();
}

void JointCall::run() {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    {
      Progress::Entry entry{state_->progress()};
      prepare(i);
      Operation& operation = *operations_[i];
      if (!operation.run_or_start()) state_->progress().wait(operation, entry);
      operation.rethrow();
    }
    finish(i);
  }
}

void JointCall::start(records::Manner manner) {
  ended_ = 0;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    prepare(i);
    operations_[i]->start(manner);
  }
}

void JointCall::start_again() {
  const Progress::Entry entry{state_->progress()};
  state_->require_open();
  state_->require_working();
  if (!is_over()) throw StateError("tutti: Plan::start on a plan that is still running; wait for it first");
  start(records::Manner::persistent);
}

template <class Look>
bool JointCall::go_on(const Look& is_over) {
  for (; ended_ < operations_.size(); ++ended_) {
    Operation& operation = *operations_[ended_];
    try {
      if (!is_over(operation)) return false;
      finish(ended_);
    } catch (...) {
      if (operation.over()) ended_ = operations_.size();  // else this thread may not wait for it
      throw;
    }
  }
  return true;
}

void JointCall::wait() {
  go_on([](Operation& operation) {
    wait_on(operation);
    return true;
  });
}

bool JointCall::test() { return go_on(test_on); }

bool JointCall::wait_until(std::int64_t end) {
  return go_on([&](Operation& operation) { return detail::wait_until(operation, end); });
}

std::string JointCall::explain() const {
  std::string text;
  for (std::size_t i = 0; i < operations_.size(); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : "\n", described(i), detail::explain(*operations_[i]));
  return text;
}

void ReleaseJointCall::operator()(JointCall* call) const noexcept {
  if (!call->communicator().is_of_this_process()) return;
  try {
    call->wait();
  } catch (const Error& error) {
    if (!call->is_over()) {  // it stays as it is
      std::fprintf(stderr, "tutti: a request was destroyed where it could not be waited for: %s\n", error.what());
      return;
    }
  }
  delete call;
}

}  // namespace tutti::detail
