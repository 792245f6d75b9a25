#include "lib/runtime/operation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "lib/records/mpi_names.hpp"
#include "lib/records/situation.hpp"
#include "lib/records/text.hpp"
#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/patience.hpp"
#include "lib/runtime/runtime.hpp"
#include "lib/runtime/watch_tuning.hpp"

namespace tutti::detail {
namespace {

/// The arguments of a call, which all ranks compared, do not match.
class ComparedError : public MismatchError {
 public:
  using MismatchError::MismatchError;
};

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
      trace_(communicator.trace() == nullptr || plan.compiled.line > 0 ? nullptr
                                                                       : communicator.trace()->operation(plan)),
      run_(make_run(communicator.route(), plan.compiled, recorded())),
      current_(run_.get()),
      record_(communicator, plan.key()) {
  // The fast path notes no steps, so that it costs nothing.
  const bool is_observed = trace_ != nullptr || checks_arguments() || communicator.runtime().faults() != nullptr;
  if (plan.compiled.takes_fast_path && !plan.exchanges() && !is_observed) fast_ = static_cast<HostRun*>(run_.get());
  if (plan.exchanges()) sizes_.resize(static_cast<std::size_t>(plan.exchange().output.value()));
}

/// Messages that could not be withdrawn may still be written to scratch.
Operation::~Operation() {
  if (!keeps_scratch_) return;
  static_cast<void>(run_.release());
  if (learned_ != nullptr) static_cast<void>(learned_->run.release());
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
  if (!may_take_fast_path()) return start_slowly(kind);
  take_place(kind);
  fast_->execution().port().begin_fast_path(sequence_, place_.lane);
  auto look_once = [] { return false; };
  if (run_fast(look_once)) return leave_order();
  enter();
  state_ = State::on_fast_path;
}

void Operation::start_slowly(Kind kind) {
  communicator_.progress().end_fast_path();
  take_place(kind);
  enter();
  advance();
}

void Operation::start_behind(stream::Gate& gate) {
  gate_ = &gate;
  communicator_.streams().begin_gated();
  start_slowly(Kind::nonblocking);
}

void Operation::record_entry() {
  if (!record_.is_inside()) record_.enter(communicator_.recorder(), sequence_, static_cast<records::Manner>(kind_));
}

void Operation::take_place(Kind kind) {
  const int turns = plan_.compiled.takes_turns ? (plan_.exchanges() ? 2 : 1) : 0;
  sequence_ = communicator_.order().begin(turns);
  if (turns > 0) place_ = enter_lane(communicator_.order().lanes(), kind, plan_.key());
  kind_ = kind;
}

void Operation::enter() {
  record_entry();
  since_ = records::coarse_now();
  own_bytes_ = others_bytes_ = Stillness{since_};
  device_work_.reset();
  has_reported_hang = is_unasked = false;
  next_look_ = since_ + watch_tuning.first_look;
  failure_ = nullptr;
  current_ = run_.get();
  mistaken_ = -1;
  state_ = State::queued;
  if (checks_arguments()) {
    state_ = State::checking;
    check_ = communicator_.argument_check().submit(arguments_of(call(), plan_.key()));
  }
  if (trace_ != nullptr) trace_->enter(kind_, sequence_, gate_ != nullptr);
  communicator_.progress().add(*this);
  if (kind_ != Kind::blocking) communicator_.progress().wake_thread();
}

bool Operation::may_take_fast_path() const { return fast_ != nullptr && !communicator_.progress().has_operations(); }

template <class Again>
bool Operation::run_fast(Again& again) {
  done_ = fast_->execution().run_fast_path(again, done_);
  if (done_ < plan_.compiled.steps.size()) return false;
  done_ = 0;
  record_entry();
  record_.leave(communicator_.recorder(), records::State::over);
  ++communicator_.counters().fast_path_calls;
  return true;
}

/// Whether a step of the fast path is worth another look.
auto Operation::patience() {
  return [this, looks = 0, spins = 0, yields = communicator_.waiting().is_crowded]() mutable {
    // While this rank has nothing else to do: what it sends has left.
    record_entry();
    if (communicator_.progress().has_waiting_threads()) return false;
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
    start_slowly(Kind::blocking);
    return over();
  }
  sequence_ = communicator_.order().next();
  kind_ = Kind::blocking;
  auto look_again = patience();
  fast_->execution().port().begin_fast_path(sequence_, Lanes::of_blocking_calls);
  if (run_fast(look_again)) {
    if (plan_.compiled.takes_turns) communicator_.order().pass_turn();
    return true;
  }
  take_place(Kind::blocking);  // the number and lane that it has had so far
  enter();
  leave_fast_path();
  return false;
}

bool Operation::wait_on_fast_path() {
  if (state_ != State::on_fast_path) return over();
  auto look_again = patience();
  if (!communicator_.progress().has_one_operation() || !run_fast(look_again)) return false;
  state_ = State::idle;
  communicator_.progress().remove(*this);
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

/// "allreduce (ring), operation 7 on rank 3: ..."; of a program that called MPI, which cuts the texts of errors, the
/// cause comes first.
std::string Operation::failure_in_words(std::string_view cause) const {
  const int rank = communicator_.rank().value();
  if (const records::Call mine = call(); records::is_mpis(mine))
    return fmt::format("{}; in {} on rank {}", cause, records::name_in_words(mine), rank);
  const std::string number = plan_.compiled.takes_turns ? fmt::format(", operation {}", sequence_) : "";
  return fmt::format("{}{} on rank {}: {}", plan_.compiled.name(), number, rank, cause);
}

template <class Kind>
void Operation::fail_because(std::string_view cause, records::FailureKind kind) {
  const std::string why = failure_in_words(cause);
  if (communicator_.poison(why)) communicator_.watch().tell(kind, why);
  fail(std::make_exception_ptr(Kind{"tutti: " + why}));
}

/// The text of the rank that found out names both sides.
void Operation::fail_by_peer(const PeerError& error) {
  if (error.told() == PeerError::Told::no) return fail_because<Error>(error.what(), error.kind());
  const std::string why = failure_in_words(fmt::format("another rank cannot go on: {}", error.what()));
  communicator_.poison(why);
  fail(error.kind() == records::FailureKind::mismatch ? std::make_exception_ptr(MismatchError{"tutti: " + why})
                                                      : std::make_exception_ptr(Error{"tutti: " + why}));
}

void Operation::fail_by_exception() {
  using records::FailureKind;
  try {
    throw;
  } catch (const WrongMessage& error) {
    fail_because<MismatchError>(communicator_.watch().explained(call(), error), FailureKind::mismatch);
  } catch (const ComparedError& error) {  // all ranks have heard the same
    const std::string why = failure_in_words(error.what());
    communicator_.poison(why);
    fail(std::make_exception_ptr(MismatchError{"tutti: " + why}));
  } catch (const MismatchError& error) {
    fail_because<MismatchError>(error.what(), FailureKind::mismatch);
  } catch (const PeerError& error) {
    fail_by_peer(error);
  } catch (const LostPeer& error) {
    // It may have ended because of a failure, of which it told others before.
    if (const auto cause = communicator_.watch().listen()) return fail_by_peer(PeerError(cause->kind, cause->why));
    fail_because<Error>(error.what(), FailureKind::death);
  } catch (const std::exception& error) {
    fail_because<Error>(error.what(), FailureKind::error);
  } catch (...) {  // only a user's operation could throw that, though it must not
    fail_because<Error>("a user's operation threw", FailureKind::error);
  }
}

void Operation::advance() {
  if (state_ == State::idle) return;
  try {
    communicator_.require_working();
    if (state_ == State::on_fast_path) leave_fast_path();
    if (state_ == State::checking && !has_been_checked()) return;
    if (state_ == State::queued && !begin()) return;
    if (!current_->advance()) return;
    if (!plan_.exchanges() || current_ != run_.get()) return end();
    begin_learned();
  } catch (...) {
    fail_by_exception();
  }
}

void Operation::check() {
  if (state_ == State::idle || is_unasked) return;
  try {
    if (state_ == State::on_fast_path) leave_fast_path();
    if (state_ == State::running) current_->port().require_same_kind();
    look_around();
  } catch (...) {
    fail_by_exception();
  }
}

/// At times that grow farther apart.
void Operation::look_around() {
  const std::int64_t now = records::coarse_now();
  if (now < next_look_) return;
  next_look_ = now + std::clamp(now - since_, watch_tuning.first_look, watch_tuning.longest_between_looks);
  if (state_ == State::running) own_bytes_.note(current_->progress(), now);
  if (runs_for_stream()) note_device_work(now);
  record_.set_wait(communicator_.recorder(), wait());
  require_right_messages(now);
  communicator_.watch().look(*this, now);
}

void Operation::note_device_work(std::int64_t now) {
  const std::optional<std::uint64_t> done = gate_->work_done();
  if (!done) return device_work_.reset();
  if (!device_work_) device_work_.emplace(now);
  device_work_->note(*done, now);
}

/// Two looks have to see the same: the right message may have come just before one.
void Operation::require_right_messages(std::int64_t now) {
  if (state_ != State::running || now - since_ < watch_tuning.before_mistaken) return;
  const int step = current_->port().with_message_of_another_call();
  if (step >= 0 && step == mistaken_)
    throw WrongMessage(current_plan().steps[static_cast<std::size_t>(step)].peer, "a message of another call arrived");
  mistaken_ = step;
}

records::Call Operation::call() const {
  records::Call call = record_.call();
  call.manner = static_cast<records::Manner>(kind_);
  return call;
}

records::Wait Operation::wait() const {
  records::Wait wait = awaited();
  wait.progress = own_bytes_.changes() % records::Wait::progress_modulus;
  return wait;
}

records::Wait Operation::awaited() const {
  using For = records::Wait::For;
  if (state_ == State::queued) return {.what = gate_ == nullptr ? For::earlier_call : For::device};
  if (state_ == State::checking)
    return {.what = For::all_arguments, .peer = communicator_.argument_check().awaited(check_)};
  const int index = current_->port().unfinished();
  if (state_ == State::idle || index < 0) return {.what = state_ == State::idle ? For::nothing : For::device};
  const CompiledStep& step = current_plan().steps[static_cast<std::size_t>(index)];
  return {.what = step.verb == Verb::send ? For::message_to : For::message_from, .step = index, .peer = step.peer};
}

bool Operation::waits_for_shared_memory() const {
  const int index = state_ == State::running ? current_->port().unfinished() : -1;
  return index >= 0 && current_plan().steps[static_cast<std::size_t>(index)].transport == Transport::shm;
}

bool Operation::checks_arguments() const {
  return communicator_.settings().checks_arguments && plan_.compiled.takes_turns;
}

bool Operation::has_been_checked() {
  const auto verdict = communicator_.argument_check().verdict(check_);
  if (!verdict) return false;
  if (!verdict->empty()) throw ComparedError(*verdict);
  state_ = State::queued;
  return true;
}

bool Operation::begin() {
  if (gate_ != nullptr && !gate_->is_open()) return false;
  if (!plan_.compiled.takes_turns) {
    current_->port().begin(sequence_, 0, [&] { return communicator_.paths().pairwise_tag(plan_.compiled.line); });
  } else {
    if (!communicator_.order().is_turn_of(sequence_)) return false;
    if (communicator_.order().has_lanes() && !communicator_.order().lanes().is_free_for(place_)) return false;
    current_->port().begin(sequence_, place_.lane,
                           [&] { return communicator_.paths().tag(sequence_, current_plan().fingerprint); });
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
  mistaken_ = -1;
  memory_.lend(communicator_.staging_memory(), learned_->plan, *current_);
  current_->bind(input_, output_);
  state_ = State::queued;
  advance();
}

void Operation::fail(std::exception_ptr why) noexcept {
  failure_ = std::move(why);
  if (gate_ != nullptr) communicator_.streams().gates().let_all_go();  // which may hold its copies up
  current_->abandon();
  keeps_scratch_ |= !current_->port().are_all_over();
  // An MPI or a network may not be done with messages that were withdrawn.
  const CompiledPlan& plan = current_plan();
  if (plan.uses(Transport::mpi) || plan.uses(Transport::network)) memory_.leave();
  end();
}

void Operation::withdraw() noexcept {
  current_->abandon();
  keeps_scratch_ |= !current_->port().are_all_over();
  end();
}

void Operation::end() {
  state_ = State::idle;
  done_ = 0;
  record_.leave(communicator_.recorder(), failure_ == nullptr ? records::State::over : records::State::failed);
  if (trace_ != nullptr) trace_->leave(failure_ != nullptr);
  communicator_.progress().remove(*this);
  leave_order();
  if (gate_ != nullptr) leave_gate();
}

void Operation::leave_order() {
  if (plan_.compiled.takes_turns) {
    communicator_.order().end_turn(sequence_);
    communicator_.order().lanes().leave(place_);
  }
  communicator_.order().end();
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
