#pragma once
// The ranks that take part in collectives, and where they are.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/patterns.hpp"

namespace tutti {

namespace detail {
class CommunicatorState;
}

/// What may be set when a communicator is made; rank 0's counts.
struct CommunicatorOptions {
  /// Which algorithms its calls use: "allreduce=ring,broadcast=chain/64K". For other collectives TUTTI_ALGORITHM
  /// counts.
  std::string_view algorithms = {};
  /// How messages travel: "auto" (through shared memory inside a node, over MPI else), "shm" (refused unless all ranks
  /// share memory), "mpi", "ucx" (everything over UCX) or "shm+ucx" (through shared memory inside a node, over UCX
  /// else). Empty: as TUTTI_TRANSPORT says, else auto.
  std::string_view transport = {};
};

/// Messages that this rank has posted, by the transport that carries them.
struct MessageCounters {
  struct Transport {
    std::uint64_t sent = 0, received = 0;
  };
  Transport shm{}, mpi{}, network{};  ///< `network`: UCX.
  // Of what travelled through shared memory, in pieces:
  std::uint64_t delivered = 0;  ///< Written by a peer to where this rank wanted them, in Tutti memory.
  std::uint64_t in_place = 0;   ///< Read in a peer's Tutti memory (tutti/memory.hpp).
  std::uint64_t forwarded = 0;  ///< Sent on in the same pass as it was reduced.
  std::uint64_t joint = 0;      ///< Reduced from the messages of several ranks in one pass.
  // And in messages:
  std::uint64_t single_copies = 0;  ///< Received without staging, from a peer's own memory: TUTTI_SINGLE_COPY.
  std::uint64_t refused = 0;        ///< That the system did not let this rank read there, or not to the end.
  // And in calls:
  /// Blocking ones, of short messages or none, done step by step to their end, as nothing else was under way.
  std::uint64_t brief = 0;
};

/// A group of MPI processes that runs Tutti's collectives. Made from an MPI communicator, independent of it afterwards:
/// messages travel on a private duplicate, so they never mix with the program's own.
///
/// - Creation is collective over `comm` (its ranks keep their numbers) and agrees on settings: rank 0's environment
///   counts (TUTTI_ALGORITHM, TUTTI_MESSAGE_LIMIT, TUTTI_SINGLE_COPY, TUTTI_TRANSPORT). Make the first one from
///   MPI_COMM_WORLD: its duplicate then serves all communicators; a first one made from a smaller communicator needs a
///   duplicate of its own. At least 1,000 can be alive at once. Errors: ArgumentError if `comm` is MPI_COMM_NULL or an
///   inter-communicator or all contexts are taken; StateError before MPI_Init or after MPI_Finalize.
/// - Collectives are called in the same order on all ranks of a communicator, with the same count, type and operation,
///   and in the same way: as in MPI, blocking, nonblocking and persistent calls do not match each other.
/// - Threads: as MPI was initialised. With MPI_THREAD_MULTIPLE any thread may call, one at a time per communicator (and
///   communicators are made by one thread at a time, in the same order on all ranks);
///   with less, a call from a thread that MPI does not allow throws StateError (under MPI_THREAD_SERIALIZED the
///   program takes turns itself).
/// - A child of a fork() may do nothing with Tutti but exit, in whatever way, or exec: not call, nor wait, nor use or
///   change what is in Tutti memory, which it shares with its parent. Destructors of what it has inherited, of any type
///   of Tutti's, do nothing there: its parent, which may have operations under way, goes on as if there were no child.
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
  /// The lowest rank of each node; `me` is -1 on the others.
  [[nodiscard]] TUTTI_API const Group& leaders() const;

  /// Of this communicator, since it was made.
  [[nodiscard]] TUTTI_API MessageCounters message_counters() const;

  /// Completes the operations in flight and gives the context back; idempotent; later calls throw StateError. Local,
  /// but that the last communicator of a duplicate of its own frees it: MPI_Comm_free, collective by the standard's
  /// letter.
  TUTTI_API void close() noexcept;
  [[nodiscard]] TUTTI_API bool is_open() const noexcept;

  /// For the library's own use; both throw StateError unless open.
  [[nodiscard]] TUTTI_API detail::CommunicatorState& state() const;
  [[nodiscard]] TUTTI_API std::shared_ptr<detail::CommunicatorState> share() const;

 private:
  std::shared_ptr<detail::CommunicatorState> state_;
};

}  // namespace tutti
