#include "lib/runtime/operation.hpp"

#include <fmt/format.h>

#include <cassert>
#include <string>
#include <utility>

#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/patience.hpp"
#include "lib/runtime/runtime.hpp"

namespace tutti::detail {
namespace {

Place enter_lane(Lanes& lanes, Kind kind, const PlanKey& key) {
  if (kind != Kind::persistent) return lanes.enter(kind);
  const Problem& problem = key.problem;
  // Of uneven blocks, counts may differ from rank to rank.
  return lanes.enter(
      Started{problem.collective, problem.root, problem.uneven() ? Count{} : problem.count, key.type, key.op.kind()});
}

}  // namespace

Operation::Learned::Learned(const Operation& operation, std::vector<Count> learned)
    : sizes(std::move(learned)),
      plan(operation.plan_.compile_learned(sizes)),
      run(make_run(operation.communicator_.route(), plan, operation.recorded())) {}

Operation::Operation(CommunicatorState& communicator, CachedPlan& plan)
    : communicator_(communicator),
      plan_(plan),
      trace_(communicator.trace() == nullptr ? nullptr : communicator.trace()->operation(plan)),
      run_(make_run(communicator.route(), plan.compiled, recorded())),
      current_(run_.get()) {
  // The fast path notes nothing, so that it costs nothing.
  if (plan.compiled.takes_fast_path && !plan.exchanges() && trace_ == nullptr)
    fast_ = static_cast<HostRun*>(run_.get());
  if (plan.exchanges()) sizes_.resize(static_cast<std::size_t>(plan.exchange().output.value()));
}

void Operation::bind_slowly() {
  if (plan_.exchanges()) return run_->bind(plan_.known().data(), sizes_.data());
  memory_.lend(communicator_.staging_memory(), plan_.compiled, *run_);
  run_->bind(input_, output_);
}

const shm::SharedPlan& Operation::current_plan() const {
  return current_ == run_.get() ? plan_.compiled : learned_->plan;
}

void Operation::give_memory_back() noexcept { memory_.give_back(communicator_.staging_memory()); }

void Operation::start(Kind kind) {
  enter(kind);
  advance();
}

void Operation::start_behind(std::unique_ptr<stream::Gate> gate) {
  gate_ = std::move(gate);
  communicator_.streams().begin_gated();
  start(Kind::nonblocking);
}

void Operation::enter(Kind kind) {
  const int turns = plan_.compiled.takes_turns ? (plan_.exchanges() ? 2 : 1) : 0;
  sequence_ = communicator_.order().begin(turns);
  if (turns > 0) place_ = enter_lane(communicator_.order().lanes(), kind, plan_.key());
  failure_ = nullptr;
  current_ = run_.get();
  state_ = State::queued;
  kind_ = kind;
  if (trace_ != nullptr) trace_->enter(kind, sequence_, gate_ != nullptr);
  communicator_.progress().add(*this);
  if (kind != Kind::blocking) communicator_.progress().wake_thread();
}

bool Operation::run_or_start() {
  const Progress& progress = communicator_.progress();
  if (fast_ == nullptr || progress.has_operations()) {
    start(Kind::blocking);
    return over();
  }
  Execution<Mux>& execution = fast_->execution();
  const Mux& port = execution.port();
  auto look_again = [&progress, &port, looks = 0, spins = 0, yields = communicator_.waiting().is_crowded]() mutable {
    if (progress.has_waiting_threads()) return false;
    if (yields && spins < port.looks_before_turn()) {
      ++spins;
      relax();
      return true;
    }
    spins = 0;
    if (is_time_for_others(looks++, yields)) return false;
    give_way(yields);
    return true;
  };
  const CompiledPlan& plan = plan_.compiled;
  execution.port().begin_fast_path(communicator_.order().next(), Lanes::of_blocking_calls);
  const std::size_t done = execution.run_fast_path(look_again);
  if (done == plan.steps.size()) {
    ++communicator_.counters().fast_path_calls;
    if (plan.takes_turns) communicator_.order().pass_turn();
    return true;
  }
  enter(Kind::blocking);
  // With the number and lane that it has had so far, and at once, as nothing else is under way.
  [[maybe_unused]] const bool has_begun = begin();
  assert(has_begun);
  execution.skip(done);
  return false;
}

template <class Kind>
void Operation::fail_because(std::string_view cause) {
  const std::string number = plan_.compiled.takes_turns ? fmt::format(", operation {}", sequence_) : "";
  const std::string why =
      fmt::format("{}{} on rank {}: {}", plan_.compiled.name(), number, communicator_.rank().value(), cause);
  communicator_.poison(why);
  fail(std::make_exception_ptr(Kind{"tutti: " + why}));
}

void Operation::advance() {
  if (state_ == State::idle) return;
  try {
    communicator_.require_working();
    if (state_ == State::queued && !begin()) return;
    if (!current_->advance()) return;
    if (!plan_.exchanges() || current_ != run_.get()) return end();
    begin_learned();
  } catch (const MismatchError& error) {
    fail_because<MismatchError>(error.what());
  } catch (const std::exception& error) {
    fail_because<Error>(error.what());
  } catch (...) {  // only a user's operation could throw that, though it must not
    fail_because<Error>("a user's operation threw");
  }
}

void Operation::check() {
  if (state_ != State::running) return;
  try {
    current_->port().require_same_kind();
  } catch (const MismatchError& error) {
    fail_because<MismatchError>(error.what());
  } catch (const Error& error) {
    fail_because<Error>(error.what());
  }
}

bool Operation::begin() {
  if (gate_ != nullptr && !gate_->is_open()) return false;
  if (!plan_.compiled.takes_turns) {
    current_->port().begin(sequence_, 0, [&] { return communicator_.paths().pairwise_tag(); });
  } else {
    if (!communicator_.order().is_turn_of(sequence_)) return false;
    if (communicator_.order().has_lanes() && !communicator_.order().lanes().is_free_for(place_)) return false;
    current_->port().begin(sequence_, place_.lane, [&] { return communicator_.paths().tag(sequence_); });
  }
  if (trace_ != nullptr) trace_->take_turn(sequence_);
  current_->begin();
  if (const Staging& staging = current_plan().staging; staging.device >= 0) {
    device::Counters& counters = communicator_.counters().device;
    ++(staging.worker == Staging::Worker::host ? counters.host_runs : counters.device_runs);
  }
  state_ = State::running;
  return true;
}

/// The sizes are known: goes on with the schedule proper, which has the next turn.
void Operation::begin_learned() {
  communicator_.order().end_turn(sequence_);
  ++sequence_;
  if (learned_ == nullptr || learned_->sizes != sizes_) {
    memory_.give_back(communicator_.staging_memory());
    learned_ = std::make_unique<Learned>(*this, sizes_);
  }
  current_ = learned_->run.get();
  memory_.lend(communicator_.staging_memory(), learned_->plan, *current_);
  current_->bind(input_, output_);
  state_ = State::queued;
  advance();
}

void Operation::fail(std::exception_ptr why) noexcept {
  failure_ = std::move(why);
  current_->abandon();
  // An MPI or a network may not be done with messages that were withdrawn.
  const CompiledPlan& plan = current_plan();
  if (plan.uses(Transport::mpi) || plan.uses(Transport::network)) memory_.leave();
  end();
}

void Operation::end() {
  state_ = State::idle;
  if (trace_ != nullptr) trace_->leave(failure_ != nullptr);
  communicator_.progress().remove(*this);
  if (plan_.compiled.takes_turns) {
    communicator_.order().end_turn(sequence_);
    communicator_.order().lanes().leave(place_);
  }
  communicator_.order().end();
  if (gate_ != nullptr) leave_gate();
}

/// An error is kept by the communicator.
void Operation::leave_gate() {
  std::exchange(gate_, nullptr)->leave();
  failure_ = nullptr;
  communicator_.streams().end_gated();
  plan_.release(*this);
}

void Operation::rethrow() {
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void run_to_end(Operation& operation, Progress::Entry& entry) {
  if (!operation.run_or_start()) operation.communicator().progress().wait(operation, entry);
  operation.plan().release(operation);
  operation.rethrow();
}

OwnedOperation owned(Operation& operation, std::shared_ptr<CommunicatorState> state) {
  operation.keep_alive = std::move(state);
  return OwnedOperation{&operation};
}

bool Operation::yields() const {
  return communicator_.waiting().is_crowded && !(polls_mpi() && communicator_.waiting().mpi_yields);
}

}  // namespace tutti::detail
