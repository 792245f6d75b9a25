#pragma once
// Copies straight from the memory of another process of the node, by process_vm_readv: where the system lets it.

#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/transport/shm/segment/descriptor_passing.hpp"
#include "lib/transport/shm/segment/shared_file.hpp"

namespace tutti::shm {

/// The choice of long messages that are read in the memory of their sender: Tutti's own choice (today none:
/// docs/experiments/single-copy.md), none, or all that can be.
enum class SingleCopyUse : std::uint8_t { automatic, never, always };

/// One rank's part in single copy. A process number may name another process: in another PID namespace, or after its
/// owner's death. Each rank therefore keeps a random nonce in its memory and tells it to the others in shared memory.
/// Every read brings the nonce along, in the same system call and so from the same memory, and counts only if it is
/// the right one. Children of a rank do not inherit it.
///
/// Nobody reads from a rank before its constructor is over. Data must be announced by their owner, with release order,
/// before another rank reads them, and must not change until the owner hears that they were read.
class SingleCopy {
 public:
  /// The finding of a rank about reading from another one.
  enum class Access : std::int32_t {
    no_part,  ///< The rank takes none: its constructor failed.
    granted,
    other_process,  ///< no process has this number here, or one that is not the rank
    refused,        ///< by the system, see Verdict::error
  };
  struct Verdict {
    Access access = Access::no_part;
    int error = 0;  ///< errno, of Access::refused.
    [[nodiscard]] bool grants() const { return access == Access::granted; }
    bool operator==(const Verdict&) const = default;
  };
  /// Of a read.
  struct Outcome {
    std::int64_t bytes = 0;  ///< That were copied, from the beginning on.
    /// 0: all are. Else the reason why the rest is not: EFAULT, it is no memory of the owner; EPERM, the system no
    /// longer allows it; ESRCH, the owner is gone, its number perhaps another process's; or another errno. The message,
    /// or the missing part of it, must then travel another way.
    int error = 0;
    [[nodiscard]] bool is_complete() const { return error == 0; }
  };

  /// The most bytes that one system call reads: a signal waits for no longer than this takes.
  static constexpr std::int64_t most_at_a_time = std::int64_t{16} << 20;

  /// Bytes of shared memory for so many ranks: 64 each.
  [[nodiscard]] static std::int64_t shared_bytes(int ranks);

  /// Rank `me` of `ranks` tells where its nonce is. `shared`: shared_bytes() that all ranks see, at a multiple of 64,
  /// all zero before the first. Throws Error if there is no memory.
  SingleCopy(std::byte* shared, int ranks, int me);
  SingleCopy(const SingleCopy&) = delete;
  SingleCopy& operator=(const SingleCopy&) = delete;
  /// From here on nobody reads from this rank: its nonce is gone.
  ~SingleCopy() = default;

  /// Whether Yama (ptrace_scope 1) lets a process be read only by its ancestors and by one process that it names, with
  /// all that descends from that. Its other levels leave no choice.
  [[nodiscard]] static bool is_restricted();
  /// Names the parent to Yama: the launcher of the job on this node. To be called only if siblings are refused: a
  /// process can name only one other, for all its libraries, and the MPI may have named everybody.
  static void allow_siblings();

  /// From here on nobody reads from this rank any more, as if it were gone: its memory no longer holds the data that it
  /// exposed.
  void hide() const;
  /// Tries to read from `owner`: a system call. The answer for one direction of a pair says nothing about the other.
  [[nodiscard]] Verdict probe(int owner) const;
  /// The same in words, for people: empty if it is granted.
  [[nodiscard]] std::string why_not(int owner) const;

  /// Copies `bytes` bytes at `from` in the memory of rank `owner`, which takes part, to `into`; `from` as the owner
  /// sees it. A system call each most_at_a_time.
  [[nodiscard]] Outcome read(int owner, std::uint64_t from, std::byte* into, std::int64_t bytes) const;

 private:
  struct Identity;
  [[nodiscard]] Identity& identity(int rank) const;

  std::byte* shared_;
  int ranks_, me_;
  Mapping nonce_;  // a page of its own, which children get empty
};

}  // namespace tutti::shm
