#pragma once
// Memory that the ranks of one node share, for measuring the limits of the machine.

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "lib/transport/mpi/handles.hpp"
#include "tutti/types.hpp"

namespace tutti::bench {

struct WindowTraits {
  using Handle = MPI_Win;
  static Handle null() { return MPI_WIN_NULL; }
  static void destroy(Handle& window) noexcept { MPI_Win_free(&window); }
};

/// A piece of shared memory for each rank, which all others can read and write.
class NodeMemory {
 public:
  /// Collective over MPI_COMM_WORLD, whose ranks must be on one node. Throws apps::InputError, on all ranks alike, if
  /// there is not as much.
  explicit NodeMemory(Bytes of_each_rank);

  /// Begins at a page, as all zeros.
  [[nodiscard]] std::byte* of(int rank) const { return base_ + rank * stride_; }

 private:
  mpi::UniqueComm comm_;
  UniqueHandle<WindowTraits> window_;
  std::byte* base_ = nullptr;
  std::ptrdiff_t stride_;
};

/// How a rank waits for a flag.
enum class Waiting { spinning, yielding };

/// Ranks that tell each other a number each, through one cache line of each rank.
class Meeting {
 public:
  /// The memory holds zeros, and no other Meeting at the same `place`, of which there are `places`.
  Meeting(const NodeMemory& memory, int place, int rank, int ranks, Waiting waiting)
      : memory_(&memory), place_(place), rank_(rank), ranks_(ranks), waiting_(waiting) {}

  /// The sum of all ranks' numbers: the fastest allreduce of eight bytes. Ranks beyond `ranks` take no part.
  std::uint64_t exchange(std::uint64_t mine);

  static constexpr int places = 16;
  static constexpr Bytes size_of_all{places * 256};

 private:
  struct alignas(128) Flag {
    std::atomic<std::uint64_t> round;
    /// By turns: nobody writes the same one again before all have read it.
    std::atomic<std::uint64_t> numbers[2];
  };
  [[nodiscard]] Flag& flag_of(int rank) const;
  void wait(const Flag& flag) const;

  const NodeMemory* memory_;
  int place_, rank_, ranks_;
  Waiting waiting_;
  std::uint64_t round_ = 0;
};

}  // namespace tutti::bench
