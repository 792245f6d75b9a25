#include "lib/core/communicator/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>
#include <utility>

#include "lib/core/communicator/launch_check.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/device/staging/device_port.hpp"
#include "lib/watch/log.hpp"
#include "lib/watch/making_watch.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  mpi::check(mpi::api.Query_thread(&level), "MPI_Query_thread");
  return level;
}

/// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the last one that was set first (MPI 4.1,
/// section 11.2.4): the last moment to use MPI, after the program's own callbacks.
int on_finalize(MPI_Comm /*self*/, int /*key*/, void* runtime, void* /*extra*/) {
  static_cast<Runtime*>(runtime)->finalize();
  return MPI_SUCCESS;
}

void end_at_finalize(Runtime* runtime) {
  int key = MPI_KEYVAL_INVALID;
  mpi::check(mpi::api.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  mpi::check(mpi::api.Comm_set_attr(MPI_COMM_SELF, key, runtime), "MPI_Comm_set_attr");
  mpi::check(mpi::api.Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

int world_rank() { return mpi::rank_in(MPI_COMM_WORLD); }

/// All ranks may well have the same environment: one of them tells.
void warn_on_first_rank() {
  if (world_rank() == 0) warn_of_unknown_variables();
}

}  // namespace

Runtime& Runtime::get() {
  int initialized = 0, finalized = 0;
  mpi::api.Initialized(&initialized);
  mpi::api.Finalized(&finalized);
  if (initialized == 0) throw StateError("tutti: MPI_Init has not been called");
  if (finalized != 0) throw StateError("tutti: called after MPI_Finalize");
  static Runtime* const runtime = [] {
    static Runtime* made = nullptr;
    made = new Runtime;
    std::atexit([] { made->end_at_exit(); });
    return made;
  }();
  return *runtime;
}

/// A program may exit without MPI_Finalize.
void Runtime::end_at_exit() noexcept {
  if (process_.is_this()) progress_.if_nobody_is_inside([this] { flush_records(*this); });
  end_thread();
}

void Runtime::end_thread() noexcept {
  if (!process_.is_this()) return;  // a child of a fork has no thread to join
  thread_.reset();
  progress_.serve(nullptr);
}

Runtime::Runtime() : progress_(trusts_threads ? std::max<int>(thread_level(), MPI_THREAD_SERIALIZED) : thread_level()) {
  warn_on_first_rank();
  end_at_finalize(this);
  try {
    take_own_settings();
  } catch (const std::exception& error) {
    objection_ = error.what();
  }
}

void Runtime::take_own_settings() {
  log::open();
  for (const mpi::NetworkDriver* driver : mpi::network_drivers())
    driver->check_settings();
  if (wants_progress_thread()) require_progress_thread("TUTTI_PROGRESS_THREAD=1");
}

void Runtime::make_faults(const std::string& text) {
  if (faults_ == nullptr && !text.empty()) faults_ = std::make_unique<Faults>(read_faults(text), world_rank());
}

void Runtime::require_progress_thread(const char* what_for) {
  if (thread_level() != MPI_THREAD_MULTIPLE)
    throw StateError(fmt::format("tutti: {} needs MPI_Init_thread with MPI_THREAD_MULTIPLE", what_for));
  start_progress_thread(Reach::all);
}

void Runtime::start_progress_thread(Reach reach) {
  if (thread_ != nullptr) return;
  thread_ = std::make_unique<ProgressThread>(progress_, reach);
  progress_.serve([this] { thread_->wake(); });
  if (progress_.has_operations()) thread_->wake();
}

Candidate Runtime::wait_for_turn(MPI_Comm comm, Progress::Entry& entry) {
  Candidate candidate;
  if (world_ != nullptr) candidate.ranks = world_->ranks_of(comm);
  MakingTurns::Offer offer{.objection = objection_};
  offer.has_carrier = !candidate.ranks.empty();
  if (offer.has_carrier) offer.free_contexts = &world_->free_contexts();
  MakingWatch watch{comm, offer.has_carrier ? world_.get() : nullptr, candidate.ranks};
  candidate.turn = making_turns_.wait_for(comm, offer, progress_, entry, [&watch] { watch.look(); });
  candidate.is_in_world = offer.has_carrier;
  return candidate;
}

std::shared_ptr<mpi::Carrier> Runtime::make_carrier(MPI_Comm comm) {
  auto carrier = std::make_shared<mpi::Carrier>(comm);
  carrier->fabric().open_journal(recorder_, records::own_identity(world_rank(), mpi::ranks_in(MPI_COMM_WORLD)));
  return carrier;
}

Admission Runtime::admit(MPI_Comm comm, Candidate& candidate) {
  if (candidate.is_in_world)
    return {world_, world_->take_context(candidate.turn.free_contexts), std::move(candidate.ranks)};
  int relation = MPI_UNEQUAL;
  mpi::check(mpi::api.Comm_compare(comm, MPI_COMM_WORLD, &relation), "MPI_Comm_compare");
  if (relation != MPI_UNEQUAL) require_whole_job();
  std::shared_ptr<mpi::Carrier> carrier = make_carrier(comm);
  if (relation != MPI_UNEQUAL) world_ = carrier;
  return {carrier, carrier->take_context(carrier->free_contexts()), carrier->ranks_of(comm)};
}

const records::ProcessWatch& Runtime::process_watch(const records::Identity& identity) {
  return process_watches_.try_emplace(identity.pid, identity).first->second;
}

void Runtime::serve_mailboxes() {
  std::set<mpi::Carrier*> carriers;
  for (const OpenCommunicator* communicator : open_)
    carriers.insert(&communicator->carrier());
  for (mpi::Carrier* carrier : carriers)
    carrier->mailbox().serve([&](const mpi::Letter& letter, const mpi::Mailbox::Rest& rest, int from) {
      if (OpenCommunicator* const meant = find_open(letter.call.communicator, *carrier))
        meant->take(letter, rest, from);
      else if (letter.kind == mpi::Letter::Kind::arguments && letter.call.action != records::Action::close_communicator)
        early_.push_back({letter, rest, from});
    });
}

/// Other ranks may be done with making it, and have called already.
void Runtime::opened(OpenCommunicator& communicator) {
  open_.push_back(&communicator);
  std::erase_if(early_, [&](const Arrived& message) {
    if (message.letter.call.communicator != communicator.id()) return false;
    communicator.take(message.letter, message.rest, message.from);
    return true;
  });
}

OpenCommunicator* Runtime::find_open(records::CommunicatorId id, const mpi::Carrier& carrier) const {
  const auto is_it = [&](const OpenCommunicator* each) { return each->id() == id && &each->carrier() == &carrier; };
  const auto found = std::ranges::find_if(open_, is_it);
  return found == open_.end() ? nullptr : *found;
}

std::shared_ptr<shm::NodeHeap> Runtime::heap() const {
  if (world_ == nullptr)
    throw StateError(
        "tutti::allocate: no Communicator over MPI_COMM_WORLD has been made, which finds out who shares memory");
  return world_->fabric().heap();
}

void Runtime::finalize() noexcept {
  if (!process_.is_this()) return;
  for (const auto function : at_finalize_)
    function();
  end_thread();
  for (const auto communicators = open_; OpenCommunicator * communicator : communicators) {
    if (communicator->in_flight() > 0)
      std::fputs(fmt::format("tutti: rank {}: MPI_Finalize with {} operations in flight; completing them first\n",
                             communicator->rank().value(), communicator->in_flight())
                     .c_str(),
                 stderr);
    communicator->close("was closed by MPI_Finalize");
  }
  bits_.finalize();
  tracing_.finalize();
  world_.reset();
  device::release_devices();
  for (const mpi::NetworkDriver* driver : mpi::network_drivers())
    driver->finalize();
}

void flush_records(Runtime& runtime) noexcept {
  runtime.bits().flush();
  if (trace::Writer* const trace = runtime.tracing().writer(); trace != nullptr) trace->flush();
}

}  // namespace tutti::detail
