#pragma once
// The part of a communicator that its operations use: their order, memory and counters, and whoever watches them.

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/core/communicator/counters.hpp"
#include "lib/core/communicator/membership.hpp"
#include "lib/core/communicator/packing_memory.hpp"
#include "lib/core/run/operation_order.hpp"
#include "lib/device/call/streams.hpp"
#include "lib/device/staging/block_pool.hpp"
#include "lib/watch/argument_check.hpp"
#include "lib/watch/bits_call.hpp"
#include "lib/watch/operation_trace.hpp"
#include "lib/watch/peer_watch.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

class Workspace : public Membership {
 public:
  [[nodiscard]] Routes route();
  [[nodiscard]] OperationOrder& order() { return order_; }
  [[nodiscard]] const OperationOrder& order() const { return order_; }
  [[nodiscard]] CommunicatorCounters& counters() { return counters_; }
  /// The memory that operations on device buffers take.
  [[nodiscard]] device::BlockPool& staging_memory() { return staging_memory_; }
  /// The host's memory into which calls of lists of buffers pack short ones.
  [[nodiscard]] PackingMemory& packing_memory() { return packing_memory_; }
  /// The state of calls in the order of streams.
  [[nodiscard]] Streams& streams() { return streams_; }
  [[nodiscard]] PeerWatch& peers() { return peers_; }
  [[nodiscard]] const OtherRanks& others() const final { return peers_.others(); }
  [[nodiscard]] ArgumentCheck& argument_check() { return argument_check_; }
  /// nullptr: its operations are neither traced nor told to NVTX.
  [[nodiscard]] CommunicatorTrace* trace() const { return trace_.get(); }
  /// nullptr: the bits of its calls are neither recorded nor compared.
  [[nodiscard]] CommunicatorBits* bits() const { return bits_.get(); }
  /// Whether messages of no collective have left over MPI or a network: one that nobody receives may be on its way for
  /// a while.
  [[nodiscard]] bool has_sent_to_pairs() const;

  /// Why the communicator cannot be used any more; empty: it works. Asks streams, too.
  [[nodiscard]] const std::string& status() noexcept;
  [[nodiscard]] bool has_failed() const { return !failure_.empty(); }
  /// Throws Error once an operation has failed: peers may then be anywhere.
  void require_working() const {
    if (has_failed()) throw_failure();
  }
  /// Poisons the communicator. False: it was poisoned before.
  bool poison(std::string why);
  void fail(records::FailureKind kind, const std::string& why) final {
    if (poison(why)) peers_.tell(kind, why);
  }

 protected:
  Workspace(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Candidate& candidate);

 private:
  [[noreturn]] void throw_failure() const;

  OperationOrder order_;
  CommunicatorCounters counters_;
  std::vector<PairwiseSends> pairwise_sends_;  ///< One for each class of messages and each rank.
  Streams streams_;
  device::BlockPool staging_memory_{{.allocate = ipc::allocate_on, .free = ipc::free_on}};
  PackingMemory packing_memory_;
  std::unique_ptr<CommunicatorTrace> trace_;
  std::unique_ptr<CommunicatorBits> bits_;
  PeerWatch peers_{*this};
  ArgumentCheck argument_check_{*this};
  std::string failure_;  ///< Why it is poisoned; empty: it is not.
};

}  // namespace tutti::detail
