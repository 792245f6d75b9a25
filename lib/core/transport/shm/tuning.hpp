#pragma once
// Every threshold of the shared-memory transport, each with the command that measured it. The commands are options of
// tutti-bench; scripts/compare_builds.py runs two builds of it in turn. docs/experiments reports the results.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tutti::shm {

struct Tuning {
  // Eager cells and bounce buffers: --collective allreduce,sendrecv,broadcast --min 8 --max 4M --touch, at 2 and 4
  // ranks.
  std::int64_t cell_bytes = 256;
  std::int64_t buffer_bytes = 64 * 1024L;
  /// Cells of a lane and direction. --collective reduce,gather,sendrecv --min 32 --max 2K, at 8 ranks on 2 processors.
  int cells = 16;
  int buffers_a_peer = 12;
  int kept_buffers = 4;
  /// Longer pieces may be in fewer buffers: of many, most would have left the near caches before they are read.
  std::size_t short_piece = 8 * 1024UL;
  int long_pieces = 8;
  /// Shorter pieces are written through the caches: --collective broadcast,gather --min 2K --max 2M --touch, at 2 ranks
  /// on cores that share no cache.
  std::size_t least_streamed = 4 * 1024UL;
  /// Pieces that several ranks read, of a rank. --collective broadcast --min 4K --max 1M, at 4 and 8 ranks.
  int shared_buffers = 4;
  // These bound memory, not time: Geometry::bytes_in_use().
  int ranks_with_full_buffers = 8, ranks_with_all_cells = 64;
  std::int64_t least_buffer_bytes = 8 * 1024L;

  /// So many looks in vain for a bounce buffer before a piece travels another way; with a processor for each rank, and
  /// without. --collective broadcast --min 4K --max 1M, at 4 and 8 ranks.
  int patience = 256, patience_crowded = 8;
  /// The bytes of one message that a look takes before it goes on to others. --collective alltoall,allreduce --min 1K
  /// --max 64K, at 4 ranks.
  std::int64_t bytes_a_look_takes = 4096;

  /// Plans whose messages are all this short run on the fast path: --collective allreduce --min 8 --max 32K.
  std::int64_t fast_path_bytes = 8 * 1024L;
  /// Data to several ranks are copied for each if that takes no more bytes altogether; with a processor for each rank,
  /// and without, where turns take longer than copies. --collective broadcast,allreduce --min 512 --max 64K, at 4
  /// and 8.
  std::int64_t copied_bytes = 4 * 1024L, copied_bytes_crowded = 48 * 1024L;
  /// Shorter messages are reduced one by one: --collective allreduce,reduce --min 1K --max 64K, at 4 ranks.
  std::int64_t joined_bytes = 4096;
  /// So long a message that is there waits for those that are reduced with it: its sender may need the room.
  std::chrono::milliseconds joint_patience{10};

  // Rendezvous: --memory tutti --collective allreduce,sendrecv --min 1K --max 4M.
  std::int64_t least_lent = 4096 + 1;

  // Waiting where ranks share processors: --collective allreduce,reduce,gather --min 8 --max 2K, at 8 ranks on 2
  // processors. A turn of another rank at this rank's processor takes about so many looks; a short message from another
  // processor about so many, and one more for every so many bytes.
  int looks_a_turn = 32, looks_a_message = 4, bytes_a_look = 128;
};
inline constexpr Tuning tuning{};

}  // namespace tutti::shm
