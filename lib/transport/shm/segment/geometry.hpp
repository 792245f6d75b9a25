#pragma once
// Where everything lies in the memory that the ranks of a node share. Pure arithmetic, the same on all ranks.

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti::shm {

inline constexpr std::int64_t line_bytes = 64;
inline constexpr std::int64_t usual_page = 4096, largest_page = 64 * 1024L;
/// Data in an area begin at the phase of the user's buffer within a cache line, so that no access splits a line.
inline constexpr std::int64_t phase_bytes = 64;

inline std::size_t phase_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % phase_bytes; }

/// How much of everything a pair of ranks has. The defaults are what measured best (docs/performance.md); tests of the
/// protocol use the least that it can live with. Slots of rings are a power of two.
struct Geometry {
  int lanes = 4;  ///< Collectives under way at a time on a communicator, each in a lane of its own.
  static constexpr int blocking_lane = 0;  ///< Of calls that return when they are over.
  static constexpr int most_swap_slots = 2;
  int swap_slots = most_swap_slots;  ///< Messages of an operation each way, at most, that may travel in swapped slots.
  int ring_slots = 16;               ///< Other messages of a lane and direction that may be on their way.
  int pool = 8;                      ///< Areas of a pair that each side owns at first.
  int slack = 2;                     ///< How many areas more than that a side keeps, in the hope of sending in them.
  int published = 4;                 ///< Areas of a rank that several others read.
  std::int64_t inline_bytes = 256;   ///< Messages of up to so many bytes travel in the slots themselves.
  std::int64_t area_bytes = 64 * 1024L;  ///< Larger ones are cut into pieces of up to so many.

  /// Smaller areas for more ranks: what all pairs of a communicator use then grows with ranks rather than their square.
  static constexpr Geometry for_ranks(int ranks) {
    Geometry geometry;
    constexpr std::int64_t least = 8 * 1024L;
    for (int served = 8; served < ranks && geometry.area_bytes > least; served *= 2)
      geometry.area_bytes /= 2;
    return geometry;
  }

  /// One more lane than collectives need: for messages that are part of none.
  [[nodiscard]] constexpr int all_lanes() const { return lanes + 1; }
  [[nodiscard]] constexpr int message_lane() const { return lanes; }

  /// Pieces of up to so many bytes may be in all areas of a side, longer ones in half of them.
  static constexpr std::int64_t short_bytes = 8192;
  /// So many messages of up to short_bytes of a pair surely have room if all before have been read: slots of a ring
  /// come back half of them at a time, and of a side's areas the other one may keep `slack`, but for the one in
  /// reserve.
  [[nodiscard]] constexpr int ring_room() const {
    return std::min(ring_slots - (ring_slots - 1) / 2, pool - slack + 1);
  }

  // Control memory of a pair, lane by lane: swapped slots, a ring for each direction, a line of credits for each
  // (the first word for the ring, the others for loans).
  [[nodiscard]] constexpr std::int64_t slot_lines() const {
    constexpr std::int64_t in_first = 40, in_others = 56;  // Envelope and flag take the rest
    return 1 + (std::max(inline_bytes - in_first, std::int64_t{0}) + in_others - 1) / in_others;
  }
  [[nodiscard]] constexpr std::int64_t slot_bytes() const { return slot_lines() * line_bytes; }
  [[nodiscard]] constexpr std::int64_t swap_at(int lane) const { return lane * lane_bytes(); }
  [[nodiscard]] constexpr std::int64_t ring_at(int lane, int side) const {
    return swap_at(lane) + slots(std::int64_t{2} * swap_slots + std::int64_t{side} * ring_slots);
  }
  [[nodiscard]] constexpr std::int64_t credits_at(int lane, int side) const {
    return swap_at(lane) + slots(std::int64_t{2} * (swap_slots + ring_slots)) + side * line_bytes;
  }
  [[nodiscard]] constexpr std::int64_t lane_bytes() const {
    return slots(std::int64_t{2} * (swap_slots + ring_slots)) + 2 * line_bytes;
  }
  /// The line in which the rank of `side` gives areas back.
  [[nodiscard]] constexpr std::int64_t returns_at(int side) const {
    return all_lanes() * lane_bytes() + side * line_bytes;
  }
  /// The word in which the rank of `side` says whether it may read in the other one's memory.
  [[nodiscard]] constexpr std::int64_t access_at(int side) const {
    return returns_at(2) + std::int64_t{side} * static_cast<std::int64_t>(sizeof(std::uint64_t));
  }
  [[nodiscard]] constexpr std::int64_t control_bytes() const { return rounded(access_at(2), usual_page); }

  // Areas of a pair: the pool, then one in reserve for each lane and side.
  [[nodiscard]] constexpr int areas() const { return 2 * pool + 2 * all_lanes(); }
  [[nodiscard]] constexpr int reserve_of(int lane, int side) const { return 2 * pool + 2 * lane + side; }
  [[nodiscard]] constexpr std::int64_t area_stride() const { return rounded(area_bytes + phase_bytes, usual_page); }
  [[nodiscard]] constexpr std::int64_t area_at(int area) const { return control_bytes() + area * area_stride(); }
  [[nodiscard]] constexpr std::int64_t pair_bytes() const { return area_at(areas()); }

  // A communicator's window: the pairs, then what each rank publishes.
  [[nodiscard]] static constexpr std::int64_t pairs(int ranks) {
    return static_cast<std::int64_t>(ranks) * (ranks - 1) / 2;
  }
  [[nodiscard]] constexpr std::int64_t pair_at(int low, int high) const { return (pairs(high) + low) * pair_bytes(); }
  [[nodiscard]] constexpr std::int64_t published_at(int ranks, int rank) const {
    return pairs(ranks) * pair_bytes() + std::int64_t{rank} * published * area_stride();
  }
  [[nodiscard]] constexpr std::int64_t window_bytes(int ranks) const {
    return rounded(published_at(ranks, ranks), largest_page);  // windows are mapped
  }

 private:
  [[nodiscard]] constexpr std::int64_t slots(std::int64_t count) const { return count * slot_bytes(); }
  [[nodiscard]] static constexpr std::int64_t rounded(std::int64_t bytes, std::int64_t to) {
    return (bytes + to - 1) / to * to;
  }
};

}  // namespace tutti::shm
