#include "lib/core/run/operation.hpp"

#include <fmt/format.h>

#include <cassert>
#include <utility>

#include "lib/core/run/failure.hpp"
#include "lib/core/run/patience.hpp"
#include "lib/watch/watch_tuning.hpp"

namespace tutti::detail {

using records::Manner;

Operation::Operation(Workspace& workspace, OperationPool& pool)
    : workspace_(workspace),
      pool_(pool),
      plan_(pool.plan()),
      observers_(workspace, plan_, is_waited_for()),
      run_(workspace, plan_, observers_.traced()) {
  // The fast path notes no steps and asks nobody, so that it costs nothing.
  const bool is_plain = observers_.are_usual() && workspace.runtime().faults() == nullptr && !plan_.exchanges();
  if (plan_.compiled().takes_fast_path && is_plain) fast_ = static_cast<HostRun*>(&run_.first());
}

void Operation::start(Manner manner) {
  if (!may_take_fast_path()) return start_slowly(manner);
  take_place(manner);
  fast_->execution().port().begin_fast_path(sequence_, ticket_.lane);
  auto look_once = [] { return false; };
  if (run_fast(look_once)) return leave_order();
  enter();
  state_ = State::on_fast_path;
}

void Operation::start_slowly(Manner manner) {
  workspace_.progress().end_fast_path();
  take_place(manner);
  enter();
  advance();
}

void Operation::start_behind(stream::Gate& gate) {
  gate_ = &gate;
  workspace_.streams().begin_gated();
  start_slowly(Manner::nonblocking);
}

void Operation::take_place(Manner manner) {
  const bool takes_turns = plan_.compiled().takes_turns;
  sequence_ = workspace_.order().begin(takes_turns ? (plan_.exchanges() ? 2 : 1) : 0);
  if (takes_turns) ticket_ = workspace_.order().lanes().enter(manner, plan_.signature().fingerprint);
  manner_ = manner;
}

void Operation::enter() {
  failure_ = nullptr;
  is_unasked = false;
  run_.rewind();
  observers_.entered(sequence_, manner_, gate_ != nullptr, {input_, output_});
  state_ = State::delayed;
  workspace_.progress().add(*this);
  if (manner_ != Manner::blocking) workspace_.progress().wake_thread();
}

bool Operation::may_take_fast_path() const { return fast_ != nullptr && !workspace_.progress().has_operations(); }

template <class Again>
bool Operation::run_fast(Again& again) {
  done_ = fast_->execution().run_fast_path(again, done_);
  if (done_ < plan_.compiled().steps.size()) return false;
  done_ = 0;
  if (!observers_.is_recorded()) observers_.enter_record(sequence_, manner_);
  observers_.leave_record(records::State::over);
  ++workspace_.counters().fast_path_calls;
  return true;
}

/// Whether a step of the fast path is worth another look.
auto Operation::patience() {
  return [this, looks = 0, spins = 0, yields = workspace_.waiting().is_crowded]() mutable {
    // While this rank has nothing else to do: what it sends has left.
    if (!observers_.is_recorded()) observers_.enter_record(sequence_, manner_);
    if (workspace_.progress().has_waiting_threads()) return false;
    if (yields && spins < fast_->execution().port().looks_before_turn()) {
      ++spins;
      relax();
      return true;
    }
    spins = 0;
    if (is_time_for_others(looks++, yields)) return false;
    give_way(yields);
    return true;
  };
}

bool Operation::run_or_start() {
  if (!may_take_fast_path()) {
    start_slowly(Manner::blocking);
    return over();
  }
  sequence_ = workspace_.order().next();
  manner_ = Manner::blocking;
  auto look_again = patience();
  fast_->execution().port().begin_fast_path(sequence_, Lanes::of_blocking_calls);
  if (run_fast(look_again)) {
    if (plan_.compiled().takes_turns) workspace_.order().pass_turn();
    return true;
  }
  take_place(Manner::blocking);  // the number and lane that it has had so far
  enter();
  leave_fast_path();
  return false;
}

bool Operation::wait_on_fast_path() {
  if (state_ != State::on_fast_path) return over();
  auto look_again = patience();
  if (!workspace_.progress().has_one_operation() || !run_fast(look_again)) return false;
  state_ = State::idle;
  workspace_.progress().remove(*this);
  leave_order();
  return true;
}

/// At once, as nothing else was under way when it began.
void Operation::leave_fast_path() {
  state_ = State::queued;
  [[maybe_unused]] const bool has_begun = begin();
  assert(has_begun);
  fast_->execution().skip(std::exchange(done_, 0));
}

void Operation::advance() {
  if (state_ == State::idle) return;
  try {
    workspace_.require_working();
    if (state_ == State::on_fast_path) leave_fast_path();
    if (state_ == State::delayed) {
      if (const auto delay = observers_.delays()) {
        delay_ = *delay;
        return;
      }
      state_ = State::queued;
    }
    if (state_ == State::queued && !begin()) return;
    if (!run_->advance()) return;
    if (!run_.only_exchanges()) return end();
    begin_learned();
  } catch (...) {
    fail();
  }
}

void Operation::check() {
  if (state_ == State::idle || is_unasked) return;
  try {
    if (state_ == State::on_fast_path) leave_fast_path();
    if (state_ == State::running) run_->port().require_same_kind();
    if (const std::int64_t now = records::coarse_now(); observers_.want_a_look(now)) observers_.waits(look(now));
  } catch (...) {
    fail();
  }
}

Look Operation::look(std::int64_t now) const {
  Look look{.call = observers_.call(), .plan = run_.plan(), .wait = awaited(), .now = now};
  if (state_ != State::running) return look;
  look.moved = run_->progress();
  if (gate_ != nullptr) look.device_work = gate_->work_done();
  if (now - observers_.since() >= watch_tuning.before_mistaken)
    look.step_of_another_call = run_->port().with_message_of_another_call();
  return look;
}

records::Wait Operation::awaited() const {
  using For = records::Wait::For;
  if (state_ == State::delayed) return delay_;
  if (state_ == State::queued) return {.what = gate_ == nullptr ? For::earlier_call : For::device};
  const int index = run_->port().unfinished();
  if (index < 0) return {.what = For::device};
  const CompiledStep& step = run_.plan().steps[static_cast<std::size_t>(index)];
  return {.what = step.verb == Verb::send ? For::message_to : For::message_from, .step = index, .peer = step.peer};
}

bool Operation::begin() {
  if (gate_ != nullptr && !gate_->is_open()) return false;
  OperationOrder& order = workspace_.order();
  if (!plan_.compiled().takes_turns) {
    run_->port().begin(sequence_, 0, [&] { return workspace_.paths().pairwise_tag(plan_.compiled().message_class); });
  } else {
    if (!order.is_turn_of(sequence_) || (order.has_lanes() && !order.lanes().is_free_for(ticket_))) return false;
    run_->port().begin(sequence_, ticket_.lane,
                       [&] { return workspace_.paths().tag(sequence_, run_.plan().fingerprint); });
  }
  observers_.started(sequence_);
  run_->begin();
  if (const Staging& staging = run_.plan().staging; staging.device >= 0) {
    device::Counters& counters = workspace_.counters().device;
    ++(staging.worker == Staging::Worker::host ? counters.host_runs : counters.device_runs);
  }
  state_ = State::running;
  return true;
}

/// The sizes are known: goes on with the schedule proper, which has the next turn.
void Operation::begin_learned() {
  workspace_.order().end_turn(sequence_);
  ++sequence_;
  run_.learn(input_, output_);
  state_ = State::queued;
  advance();
}

/// Its messages are withdrawn.
void Operation::fail() {
  const bool takes_turns = plan_.compiled().takes_turns;
  const std::string name = plan_.compiled().name() + (takes_turns ? fmt::format(", operation {}", sequence_) : "");
  failure_ = failure_in_flight(workspace_, observers_.call(), name);
  if (gate_ != nullptr) workspace_.streams().gates().let_all_go();  // which may hold its copies up
  run_.abandon(true);
  end();
}

void Operation::withdraw() noexcept {
  run_.abandon(false);
  end();
}

void Operation::end() {
  state_ = State::idle;
  done_ = 0;
  failure_ == nullptr ? observers_.left() : observers_.failed();
  workspace_.progress().remove(*this);
  leave_order();
  if (gate_ != nullptr) leave_gate();
}

void Operation::leave_order() {
  OperationOrder& order = workspace_.order();
  if (plan_.compiled().takes_turns) {
    order.end_turn(sequence_);
    order.lanes().leave(ticket_);
  }
  order.end();
}

/// An error is kept by the communicator.
void Operation::leave_gate() {
  std::exchange(gate_, nullptr)->leave();
  failure_ = nullptr;
  workspace_.streams().end_gated();
  release();
}

void Operation::rethrow() {
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

bool Operation::yields() const {
  return workspace_.waiting().is_crowded && !(polls_mpi() && workspace_.waiting().mpi_yields);
}

bool Operation::moves_in_background(Reach reach) const {
  return manner_ != Manner::blocking && (reach == Reach::all || workspace_.paths().shares_memory());
}

Operation& OperationPool::make_operation(Workspace& workspace) {
  return *operations_.emplace_back(std::make_unique<Operation>(workspace, *this));
}

void run_to_end(Operation& operation, Progress::Entry& entry) {
  if (!operation.run_or_start()) operation.communicator().progress().wait(operation, entry);
  operation.release();
  operation.rethrow();
}

OwnedOperation owned(Operation& operation, std::shared_ptr<Workspace> state) {
  operation.keep_alive = std::move(state);
  return OwnedOperation{&operation};
}

}  // namespace tutti::detail
