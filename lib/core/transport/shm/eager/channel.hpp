#pragma once
// One rank's end of the shared memory between it and another rank. Needs no MPI: tests run it between threads.

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/core/transport/shm/eager/bounce_pool.hpp"
#include "lib/core/transport/shm/eager/ring.hpp"

namespace tutti::shm {

/// A bounce buffer to write a piece into and send.
struct Bounce {
  std::byte* data = nullptr;  ///< nullptr: none is free.
  Where where = Where::bounce;
  int number = 0;
};

/// Every lane has a ring of eager cells for each direction. Cells carry small messages; larger ones leave a piece at a
/// time in bounce buffers, which a cell names. A buffer belongs to a rank, whose peers read it and give it back. A
/// receiver keeps a few of them for its next messages to the sender, the one read last first: its caches have it, and
/// nothing need be given back then. Nothing here blocks.
class Channel {
 public:
  /// `pair`: geometry.pair_bytes(), all zero when both sides begin; `side` 0 or 1. `peer_buffers`: the other side's
  /// bounce buffers; `pool`: those of this one.
  Channel(const Geometry& geometry, std::byte* pair, int side, std::byte* peer_buffers, BouncePool& pool);

  [[nodiscard]] int lanes() const { return static_cast<int>(rings_.size()); }
  [[nodiscard]] Ring& ring(int lane) { return rings_[static_cast<std::size_t>(lane)]; }
  [[nodiscard]] const Ring& ring(int lane) const { return rings_[static_cast<std::size_t>(lane)]; }

  /// A bounce buffer for a piece of so many bytes.
  [[nodiscard]] Bounce take(std::size_t bytes);
  /// Sends a piece that was written to a buffer of take(), or to a shared one of this side, which has a reader more for
  /// it; its data begin at `phase` of the buffer. After Ring::may_send().
  void send(int lane, Envelope envelope, const Bounce& bounce, std::size_t phase) {
    envelope.where = bounce.where;
    envelope.phase = static_cast<std::uint8_t>(phase);
    envelope.number = static_cast<std::uint16_t>(bounce.number);
    if (bounce.where == Where::shared) ++out_;
    if (bounce.where != Where::returned) theirs_[envelope.number] = true;
    ring(lane).send(envelope, nullptr, 0);
  }
  /// Whether a piece is in a bounce buffer that its sender may name. Whatever else an envelope says, was written by
  /// nobody who keeps to the protocol.
  [[nodiscard]] bool has(const Envelope& envelope) const {
    return envelope.number < returns_ && envelope.phase < phase_bytes &&
           (envelope.where != Where::returned || theirs_[envelope.number]);
  }
  /// The data of a piece in a bounce buffer, if the channel has it.
  [[nodiscard]] const std::byte* piece(const Envelope& envelope) const {
    const std::byte* const buffers = envelope.where == Where::returned ? pool_->at(0) : peer_buffers_;
    return buffers + envelope.number * buffer_stride_ + envelope.phase;
  }
  /// The next message of a lane has been read.
  void release(int lane, const Envelope& envelope) {
    ring(lane).release();
    if (envelope.where != Where::cell) release_piece(ring(lane), envelope);
  }
  /// Takes in the buffers that the other side gave back, up to one that it does not have.
  void collect();
  /// Whether that comes next: no more buffers will be taken in.
  [[nodiscard]] bool has_false_return() const {
    const Geometry::Return entry = next_return();
    return entry != 0 && !is_theirs(entry);
  }

  // Only tests call these.
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }
  [[nodiscard]] std::size_t given_back() const { return given_back_; }

 private:
  void release_piece(Ring& ring, const Envelope& envelope);
  void give_back(int buffer);
  [[nodiscard]] Geometry::Return next_return() const;
  [[nodiscard]] bool is_theirs(Geometry::Return entry) const;

  using Return = std::atomic<Geometry::Return>;  // each: number + 1 and the parity of its lap around the entries

  std::vector<Ring> rings_;  ///< One for each lane.
  std::int64_t buffer_stride_;
  std::byte* peer_buffers_;
  BouncePool* pool_;
  std::size_t most_kept_;
  std::vector<std::uint8_t> kept_;              ///< Buffers of the other side, the one read last at the end.
  int out_ = 0;                                 ///< Buffers of this side that the other one has, or will soon.
  std::bitset<Geometry::most_buffers> theirs_;  ///< Buffers of this side that the other was told of.
  std::uint64_t returns_;                       ///< Entries in which buffers are given back.
  Return *returns_in_, *returns_out_;
  std::uint64_t taken_back_ = 0, given_back_ = 0;
};

}  // namespace tutti::shm
