#pragma once
// Where everything lies in the memory that the ranks of a node share. Pure arithmetic, the same on all ranks.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "lib/core/transport/shm/tuning.hpp"

namespace tutti::shm {

inline constexpr std::int64_t line_bytes = 64;
inline constexpr std::int64_t usual_page = 4096, largest_page = 64 * 1024L;
/// Data in a bounce buffer begin at the phase of the user's buffer within a cache line, so that no access splits a
/// line.
inline constexpr std::int64_t phase_bytes = 64;

inline std::size_t phase_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % phase_bytes; }

/// The least multiple of `to` that is not below `bytes`.
constexpr std::int64_t rounded(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

/// A pair of ranks has eager cells: for each lane a ring of them in each direction. A rank has bounce buffers, which it
/// uses for messages to all others. The defaults are those of two ranks; tests of the protocol use the least that it
/// can live with.
struct Geometry {
  int lanes = 4;  ///< Collectives under way at a time on a communicator, each in a lane of its own.
  static constexpr int blocking_lane = 0;       ///< The lane of calls that return when they are over.
  int cells = tuning.cells;                     ///< Cells of a ring: a power of two.
  int buffers = tuning.buffers_a_peer;          ///< Buffers of a rank; at most most_buffers.
  int kept = tuning.kept_buffers;               ///< So many buffers of a peer a rank keeps at most, to answer in them.
  std::int64_t cell_bytes = tuning.cell_bytes;  ///< Messages of up to so many bytes travel in a cell.
  std::int64_t buffer_bytes = tuning.buffer_bytes;  ///< Larger ones are cut into pieces of up to so many.
  static constexpr int most_buffers = 128;

  /// The more ranks, the fewer buffers for each peer, and the smaller they are: the memory of a rank is bounded.
  static constexpr Geometry for_ranks(int ranks) {
    Geometry geometry;
    const int peers = std::max(1, ranks - 1);
    geometry.buffers = std::min(tuning.buffers_a_peer * peers, most_buffers);
    geometry.kept = std::min(tuning.kept_buffers, geometry.buffers / (3 * peers));  // two thirds are never kept
    for (int served = tuning.ranks_with_full_buffers;
         served < ranks && geometry.buffer_bytes > tuning.least_buffer_bytes; served *= 2)
      geometry.buffer_bytes /= 2;
    if (ranks > tuning.ranks_with_all_cells) geometry.cells /= 2;
    return geometry;
  }

  /// More lanes than collectives need: for messages that are part of none, one for each of their lines.
  static constexpr int message_classes = 2;
  [[nodiscard]] constexpr int all_lanes() const { return lanes + message_classes; }
  [[nodiscard]] constexpr int message_lane(int message_class = 0) const { return lanes + message_class; }

  /// So many messages of a pair surely have a cell if all before have been read: cells come back half a ring at a time.
  [[nodiscard]] constexpr int sure_cells() const { return cells - (cells - 1) / 2; }

  // Control memory of a pair, lane by lane: a ring for each direction, a line of credits for each (the first word for
  // the ring, the others for loans).
  [[nodiscard]] constexpr std::int64_t cell_lines() const {
    constexpr std::int64_t in_first = 40, in_others = 56;  // Envelope and flag take the rest
    return 1 + (std::max(cell_bytes - in_first, std::int64_t{0}) + in_others - 1) / in_others;
  }
  /// The bytes of the lines of a cell.
  [[nodiscard]] constexpr std::int64_t cell_stride() const { return cell_lines() * line_bytes; }
  [[nodiscard]] constexpr std::int64_t ring_at(int lane, int side) const {
    return (lane < early_lanes() ? lane * lane_bytes() : late_at()) + side * ring_bytes();
  }
  [[nodiscard]] constexpr std::int64_t credits_at(int lane, int side) const {
    return ring_at(lane, 2) + side * line_bytes;
  }
  [[nodiscard]] constexpr std::int64_t ring_bytes() const { return cells * cell_stride(); }
  [[nodiscard]] constexpr std::int64_t lane_bytes() const { return 2 * ring_bytes() + 2 * line_bytes; }
  /// Entries in which the rank of `side` gives buffers back: one for each that the other one has.
  using Return = std::uint16_t;
  [[nodiscard]] constexpr std::int64_t returns_at(int side) const {
    const std::int64_t bytes = rounded(buffers * static_cast<std::int64_t>(sizeof(Return)), line_bytes);
    return early_lanes() * lane_bytes() + side * bytes;
  }
  /// The last lane begins here, at a page, as few programs use it: its memory is taken with its first message.
  [[nodiscard]] constexpr int early_lanes() const { return all_lanes() - 1; }
  [[nodiscard]] constexpr std::int64_t late_at() const { return rounded(returns_at(2), usual_page); }
  [[nodiscard]] constexpr std::int64_t late_bytes() const { return rounded(lane_bytes(), usual_page); }
  [[nodiscard]] constexpr std::int64_t pair_bytes() const { return late_at() + late_bytes(); }

  // The bounce buffers of a rank, each from a page on. Were one a few lines behind its page, a load of the copy into it
  // would often have the last twelve bits of a store before it, for which processors let it wait.
  [[nodiscard]] constexpr std::int64_t buffer_stride() const { return rounded(buffer_bytes + phase_bytes, usual_page); }
  [[nodiscard]] constexpr std::int64_t pool_bytes() const { return buffers * buffer_stride(); }

  // A communicator's window: the pairs, then the buffers of each rank.
  [[nodiscard]] static constexpr std::int64_t pairs(int ranks) {
    return static_cast<std::int64_t>(ranks) * (ranks - 1) / 2;
  }
  [[nodiscard]] constexpr std::int64_t pair_at(int low, int high) const { return (pairs(high) + low) * pair_bytes(); }
  [[nodiscard]] constexpr std::int64_t pool_at(int ranks, int rank) const {
    return pairs(ranks) * pair_bytes() + rank * pool_bytes();
  }
  [[nodiscard]] constexpr std::int64_t window_bytes(int ranks) const {
    return rounded(pool_at(ranks, ranks), largest_page);  // windows are mapped
  }
  /// Memory that a communicator takes where all ranks of the node have exchanged messages larger than a cell: the
  /// memory of pairs grows with their number, and is small; the buffers grow with the ranks.
  [[nodiscard]] constexpr std::int64_t bytes_in_use(int ranks) const {
    return pairs(ranks) * late_at() + ranks * pool_bytes();
  }
};

}  // namespace tutti::shm
