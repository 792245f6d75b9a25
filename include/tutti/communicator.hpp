#pragma once
// The ranks that take part in collectives, and where they are.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/patterns.hpp"

namespace tutti {

namespace detail {
class CommunicatorState;
}

/// Settings for making a communicator; those of rank 0 count.
struct CommunicatorOptions {
  /// The algorithms of its calls: "allreduce=ring,broadcast=chain/64K". For collectives not named here TUTTI_ALGORITHM
  /// counts.
  std::string_view algorithms = {};
  /// The transport of messages: "auto" (shared memory inside a node, MPI otherwise), "shm" (refused unless all ranks
  /// share memory), "mpi", "ucx" (UCX for everything) or "shm+ucx" (shared memory inside a node, UCX otherwise). Empty:
  /// the value of TUTTI_TRANSPORT, else auto.
  std::string_view transport = {};
  /// Where algorithms are chosen for buffers to be, since all ranks have to choose alike and do not know of each
  /// other's buffers: "device", "host", "tutti" (memory of tutti::allocate), or "auto" (devices' if all ranks use a
  /// CUDA device when the communicator is made). Any buffers work with each. Empty: the value of TUTTI_BUFFERS, else
  /// auto.
  std::string_view buffers = {};
  /// Whether blocking, nonblocking and persistent calls of one collective match each other, so that ranks may mix them.
  /// Cost: through shared memory, calls under way at the same time then run one after the other.
  bool forms_match = false;
  /// The rules by which algorithms are chosen, as TUTTI_RULES names them: "FILE", "FILE:FILE" (the one that fits this
  /// machine most closely) or "none" (the built-in ones alone). A file counts whatever number of nodes it is for.
  /// Empty: the rules of the job (docs/rules.md).
  std::string_view rules = {};
  /// The bits of its reductions, where a call says nothing: Bits::fixed or Bits::same. Nothing: the value of
  /// TUTTI_BITS, else Bits::same.
  std::optional<Bits> bits = {};
};

/// Messages that this rank has posted, by the transport that carries them.
struct MessageCounters {
  struct Transport {
    std::uint64_t sent = 0, received = 0;              ///< Messages.
    std::uint64_t sent_bytes = 0, received_bytes = 0;  ///< Their bytes.
  };
  Transport shm{}, mpi{}, network{};  ///< `network`: UCX.
};

/// Values by name, as "shm.tutti_memory.get". `mpirun ... tutti info --counters` lists the names and their meanings.
using Counters = std::map<std::string, std::uint64_t, std::less<>>;

/// A group of MPI processes that runs Tutti's collectives. It is made from an MPI communicator and independent of it
/// afterwards: messages travel on a private duplicate, so they never mix with the program's own.
///
/// - Creation is collective over `comm` (its ranks keep their numbers) and agrees on settings: rank 0's environment
///   counts (TUTTI_ALGORITHM, TUTTI_MESSAGE_LIMIT, TUTTI_TRANSPORT). Make the first one from
///   MPI_COMM_WORLD: its duplicate then serves all communicators; a first one made from a smaller communicator needs a
///   duplicate of its own. At least 1,000 can be alive at once. Errors: ArgumentError if `comm` is MPI_COMM_NULL or an
///   inter-communicator or all contexts are taken; StateError before MPI_Init or after MPI_Finalize.
/// - Collectives are called in the same order on all ranks of a communicator, with the same count, type and operation,
///   and in the same way: as in MPI, blocking, nonblocking and persistent calls do not match each other, unless
///   CommunicatorOptions::forms_match says so.
/// - Threads: the level of MPI's initialisation counts. With MPI_THREAD_MULTIPLE any thread may call, one at a time per
///   communicator, and make communicators, from one `comm` one at a time. With less, a
///   call from a thread that MPI does not allow throws StateError (under MPI_THREAD_SERIALIZED the program takes turns
///   itself).
/// - A child of a fork() may do nothing with Tutti but exit, in any way, or exec. It must not call or wait, nor use or
///   change the contents of Tutti memory, which it shares with its parent. In the child, destructors of inherited Tutti
///   objects, of any type, do nothing: the parent, which may have operations under way, goes on as if there were no
///   child.
/// - The destructor is close(). A communicator still open at MPI_Finalize is closed there: operations still in flight
///   are completed first, with a warning on stderr.
class Communicator {
 public:
  TUTTI_API explicit Communicator(MPI_Comm comm, const CommunicatorOptions& options = {});
  TUTTI_API Communicator(Communicator&&) noexcept;
  TUTTI_API Communicator& operator=(Communicator&&) noexcept;
  TUTTI_API ~Communicator();

  [[nodiscard]] TUTTI_API Rank rank() const;
  [[nodiscard]] TUTTI_API int size() const;

  /// Nodes are the groups of ranks that share memory, numbered by their lowest rank.
  [[nodiscard]] TUTTI_API int node_count() const;
  [[nodiscard]] TUTTI_API int node_of(Rank rank) const;
  /// The ranks of this rank's node.
  [[nodiscard]] TUTTI_API const Group& node() const;
  /// The lowest rank of each node; on ranks that are not among them `me` is -1.
  [[nodiscard]] TUTTI_API const Group& leaders() const;

  /// Messages of this rank in this communicator, since it was made.
  [[nodiscard]] TUTTI_API MessageCounters message_counters() const;
  /// Messages, their bytes, and the mechanisms that they took, by name: for tests and for measurements. `at()`
  /// throws where there is no counter of that name. Names may change with the mechanisms. Cost: one map.
  [[nodiscard]] TUTTI_API Counters counters() const;

  /// Why the communicator cannot be used any more, as "allreduce (ring) on rank 2: ..."; empty: it works. Calls in the
  /// order of a stream return before their errors are known, which are found here, and by the next call.
  [[nodiscard]] TUTTI_API std::string status() const;

  /// Completes the operations in flight and gives the context back; idempotent; later calls throw StateError. Local,
  /// with one exception: the last communicator on a duplicate of its own frees it by MPI_Comm_free, which the standard
  /// calls collective.
  TUTTI_API void close() noexcept;
  /// Closes it without waiting for anybody: all its operations under way on this rank end at once, and their waits
  /// throw Error with `why`. Ranks that wait for this one learn of it, as of any failure, and their calls fail, too.
  /// Memory that peers or MPI may still use, buffers of sends above all, has to stay as after an error (Request).
  /// Idempotent; does nothing to a communicator that is closed. Local. Errors: StateError from a thread that MPI does
  /// not allow, and from inside a user's operation.
  TUTTI_API void abort(std::string_view why);
  [[nodiscard]] TUTTI_API bool is_open() const noexcept;

  /// The state, for the library's own use; both throw StateError unless the communicator is open.
  [[nodiscard]] TUTTI_API detail::CommunicatorState& state() const;
  [[nodiscard]] TUTTI_API std::shared_ptr<detail::CommunicatorState> share() const;

 private:
  std::shared_ptr<detail::CommunicatorState> state_;
};

}  // namespace tutti
