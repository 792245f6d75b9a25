#pragma once
// A random call as calls of Tutti and, for results to compare with, of the MPI.

#include <mpi.h>

#include <vector>

#include "apps/soak/layout.hpp"
#include "apps/soak/memory.hpp"
#include "tutti/batch.hpp"
#include "tutti/call.hpp"

namespace tutti::soak {

/// One call on this rank, ready to be made in any way. The arguments of its constructor must outlive it.
class Invocation {
 public:
  Invocation(const Call& call, const Layout& layout, const CallMemory& memory, const Communicator& comm);

  /// Blocking.
  void run();
  [[nodiscard]] std::vector<Request> start();
  [[nodiscard]] std::vector<Plan> prepare();

 private:
  void list_blocks();
  [[nodiscard]] detail::Call collective_call() const;
  void place(detail::Call& call) const;
  void list_messages();

  const Call& call_;
  const Layout& layout_;
  const CallMemory& memory_;
  const Communicator& comm_;
  std::vector<Count> in_counts_, in_offsets_, out_counts_, out_offsets_;
  /// A message of this rank, received or sent.
  struct Transfer {
    bool is_sent;
    std::byte* data;
    Count count;
    Rank peer;
  };
  std::vector<Transfer> transfers_;
  std::vector<Batch> batches_;  ///< None or one.
};

/// Whether the MPI has the call, its type and its operation.
[[nodiscard]] bool has_mpi_result(const Call& call);

/// All elements of the output of this rank, block after block; of no meaning where a call leaves the output alone.
/// Collective over `comm`. Only if has_mpi_result().
[[nodiscard]] std::vector<std::byte> mpi_result(const Call& call, int repetition, int rank, MPI_Comm comm);

}  // namespace tutti::soak
