#include "lib/runtime/runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/launch_check.hpp"
#include "lib/runtime/variables.hpp"
#include "lib/transport/device/device_port.hpp"
#include "lib/transport/mpi/api.hpp"
#include "lib/transport/mpi/check.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  mpi::check(mpi::api.Query_thread(&level), "MPI_Query_thread");
  return level;
}

/// MPI_Finalize first deletes the attributes of MPI_COMM_SELF (MPI 4.1, section 11.2.4): the last moment to use MPI.
int on_finalize(MPI_Comm /*self*/, int /*key*/, void* runtime, void* /*extra*/) {
  static_cast<Runtime*>(runtime)->finalize();
  return MPI_SUCCESS;
}

void call_at_finalize(Runtime* runtime) {
  int key = MPI_KEYVAL_INVALID;
  mpi::check(mpi::api.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  mpi::check(mpi::api.Comm_set_attr(MPI_COMM_SELF, key, runtime), "MPI_Comm_set_attr");
  mpi::check(mpi::api.Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

/// All ranks may well have the same environment: one of them tells.
void warn_on_first_rank() {
  int rank = 0;
  mpi::check(mpi::api.Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  if (rank == 0) warn_of_unknown_variables();
}

}  // namespace

Runtime& Runtime::get() {
  int initialized = 0, finalized = 0;
  mpi::api.Initialized(&initialized);
  mpi::api.Finalized(&finalized);
  if (initialized == 0) throw StateError("tutti: MPI_Init has not been called");
  if (finalized != 0) throw StateError("tutti: called after MPI_Finalize");
  static const Owner owner{std::unique_ptr<Runtime>{new Runtime}};
  return *owner.runtime;
}

Runtime::Owner::~Owner() {
  ended = true;
  if (!runtime->process_.is_this()) static_cast<void>(runtime.release());
}

Runtime::Runtime() : progress_(trusts_threads ? std::max<int>(thread_level(), MPI_THREAD_SERIALIZED) : thread_level()) {
  warn_on_first_rank();
  if (wants_progress_thread()) require_progress_thread("TUTTI_PROGRESS_THREAD=1");
  call_at_finalize(this);
}

void Runtime::require_progress_thread(const char* what_for) {
  if (thread_level() != MPI_THREAD_MULTIPLE)
    throw StateError(fmt::format("tutti: {} needs MPI_Init_thread with MPI_THREAD_MULTIPLE", what_for));
  start_progress_thread(Reach::all);
}

void Runtime::start_progress_thread(Reach reach) {
  if (thread_ != nullptr) return;
  thread_ = std::make_unique<ProgressThread>(progress_, reach);
  progress_.serve(thread_.get());
  if (progress_.has_operations()) thread_->wake();
}

Candidate Runtime::wait_for_turn(MPI_Comm comm, Progress::Entry& entry) {
  Candidate candidate;
  if (world_ != nullptr) candidate.ranks = world_->ranks_of(comm);
  MakingTurns::Offer offer;
  offer.has_carrier = !candidate.ranks.empty();
  if (offer.has_carrier) offer.free_contexts = &world_->free_contexts();
  candidate.turn = making_turns_.wait_for(comm, offer, progress_, entry);
  candidate.is_in_world = offer.has_carrier;
  return candidate;
}

Admission Runtime::admit(MPI_Comm comm, Candidate candidate) {
  if (candidate.is_in_world)
    return {world_, world_->take_context(candidate.turn.free_contexts), std::move(candidate.ranks),
            std::move(candidate.turn)};
  int relation = MPI_UNEQUAL;
  mpi::check(mpi::api.Comm_compare(comm, MPI_COMM_WORLD, &relation), "MPI_Comm_compare");
  if (relation != MPI_UNEQUAL) require_whole_job();
  auto carrier = std::make_shared<mpi::Carrier>(comm);
  if (relation != MPI_UNEQUAL) world_ = carrier;
  return {carrier, carrier->take_context(carrier->free_contexts()), carrier->ranks_of(comm), std::move(candidate.turn)};
}

std::shared_ptr<shm::NodeHeap> Runtime::heap() const {
  if (world_ == nullptr)
    throw StateError(
        "tutti::allocate: no Communicator over MPI_COMM_WORLD has been made, which finds out who shares memory");
  return world_->fabric().heap();
}

void Runtime::finalize() noexcept {
  if (!process_.is_this()) return;
  thread_.reset();
  progress_.serve(nullptr);
  for (const auto communicators = open_; CommunicatorState * communicator : communicators) {
    if (communicator->order().in_flight() > 0)
      std::fputs(fmt::format("tutti: rank {}: MPI_Finalize with {} operations in flight; completing them first\n",
                             communicator->rank().value(), communicator->order().in_flight())
                     .c_str(),
                 stderr);
    communicator->close("was closed by MPI_Finalize");
  }
  tracing_.finalize();
  world_.reset();
  device::release_devices();
  for (const mpi::NetworkDriver* driver : mpi::network_drivers())
    driver->finalize();
}

}  // namespace tutti::detail
