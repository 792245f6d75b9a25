#include "lib/runtime/runtime.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "lib/mpi/check.hpp"
#include "lib/runtime/communicator_state.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

int thread_level() {
  int level = MPI_THREAD_SINGLE;
  mpi::check(MPI_Query_thread(&level), "MPI_Query_thread");
  return level;
}

/// MPI_Finalize first deletes the attributes of MPI_COMM_SELF (MPI 4.1, section 11.2.4): the last moment to use MPI.
int on_finalize(MPI_Comm /*self*/, int /*key*/, void* runtime, void* /*extra*/) {
  static_cast<Runtime*>(runtime)->finalize();
  return MPI_SUCCESS;
}

void call_at_finalize(Runtime* runtime) {
  int key = MPI_KEYVAL_INVALID;
  mpi::check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, nullptr), "MPI_Comm_create_keyval");
  mpi::check(MPI_Comm_set_attr(MPI_COMM_SELF, key, runtime), "MPI_Comm_set_attr");
  mpi::check(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

}  // namespace

Runtime& Runtime::get() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0) throw StateError("tutti: MPI_Init has not been called");
  if (finalized != 0) throw StateError("tutti: called after MPI_Finalize");
  static Runtime runtime;
  return runtime;
}

Runtime::Runtime() : progress_(thread_level()) {
  if (wants_progress_thread()) {
    thread_ = std::make_unique<ProgressThread>(progress_, thread_level());
    progress_.serve(thread_.get());
  }
  call_at_finalize(this);
}

std::shared_ptr<mpi::Carrier> Runtime::carrier_for(MPI_Comm comm) {
  int relation = MPI_UNEQUAL;
  mpi::check(MPI_Comm_compare(comm, MPI_COMM_WORLD, &relation), "MPI_Comm_compare");
  int has_world = world_ != nullptr && !world_->ranks_of(comm).empty() ? 1 : 0;
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &has_world, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (has_world != 0) return world_;
  auto carrier = std::make_shared<mpi::Carrier>(comm);
  if (relation != MPI_UNEQUAL) world_ = carrier;
  return carrier;
}

void Runtime::finalize() noexcept {
  thread_.reset();
  progress_.serve(nullptr);
  for (const auto communicators = open_; CommunicatorState * communicator : communicators) {
    if (communicator->in_flight() > 0)
      std::fputs(fmt::format("tutti: rank {}: MPI_Finalize with {} operations in flight; completing them first\n",
                             communicator->rank().value(), communicator->in_flight())
                     .c_str(),
                 stderr);
    communicator->close("was closed by MPI_Finalize");
  }
  world_.reset();
  for (const mpi::NetworkDriver* driver : mpi::network_drivers())
    driver->finalize();
}

}  // namespace tutti::detail
