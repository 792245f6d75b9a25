#pragma once
// What a process has one of, from the first Communicator to MPI_Finalize.

#include <mpi.h>

#include <memory>
#include <vector>

#include "lib/mpi/carrier.hpp"
#include "lib/runtime/progress.hpp"
#include "lib/runtime/progress_thread.hpp"

namespace tutti::detail {

class CommunicatorState;

class Runtime {
 public:
  /// Throws StateError before MPI_Init and after MPI_Finalize.
  static Runtime& get();

  [[nodiscard]] Progress& progress() { return progress_; }
  /// Collective over `comm`: the carrier that its messages travel on. The duplicate of MPI_COMM_WORLD once there is
  /// one, which is made for the first communicator of all of its ranks; else a duplicate of `comm`.
  [[nodiscard]] std::shared_ptr<mpi::Carrier> carrier_for(MPI_Comm comm);

  /// Of the duplicate of MPI_COMM_WORLD; nullptr: its node shares no memory. Throws StateError if there is no
  /// duplicate.
  [[nodiscard]] std::shared_ptr<shm::NodeHeap> heap() const;

  void opened(CommunicatorState& communicator) { open_.push_back(&communicator); }
  void closed(CommunicatorState& communicator) { std::erase(open_, &communicator); }
  /// MPI_Finalize has begun, MPI still works: closes all communicators.
  void finalize() noexcept;

 private:
  Runtime();
  Progress progress_;
  std::unique_ptr<ProgressThread> thread_;  ///< If the user wants one.
  std::shared_ptr<mpi::Carrier> world_;
  std::vector<CommunicatorState*> open_;
};

}  // namespace tutti::detail
