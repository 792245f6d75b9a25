#pragma once
// One rank's end of the shared memory between it and another rank. Needs no MPI: tests run it between threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/transport/shm/eager/line.hpp"
#include "lib/transport/shm/eager/publisher.hpp"
#include "lib/transport/shm/eager/stream.hpp"
#include "lib/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// Nothing here blocks. Slots carry small messages; larger ones leave a piece at a time in areas, which the envelope
/// names: an area belongs to one side, is handed over with the message, and is used again for the next message the
/// other way, the last one first as it is warm. A side that keeps gaining areas gives them back; besides, every lane
/// has one in reserve, so that no operation waits for areas that another one holds.
class Channel {
 public:
  /// `pair` is memory of geometry.pair_bytes(), all zero when both sides begin; `side` 0 or 1. What the other side
  /// publishes is at `published`; what it gives back of this side's goes to `publisher`.
  Channel(const Geometry& geometry, std::byte* pair, int side, std::byte* published, Publisher& publisher);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }

  // Sending. First may_send(), then one of the others.
  [[nodiscard]] bool may_send(Stream stream) {
    const Lane& lane = lanes_[index(stream.lane)];
    if (stream.way == Way::swap) return lane.swaps[index(stream.slot)].out <= lane.swaps[index(stream.slot)].in;
    return lane.sent - lane.acknowledged <= ring_mask_ || has_credit(stream.lane);
  }
  /// A message of up to inline_bytes.
  void send(Stream stream, const Envelope& envelope, const std::byte* data, std::size_t bytes) {
    const Slot slot = outgoing(stream);
    pack(slot.lines, slot.flag, envelope, data, bytes);
  }
  /// An area to write a piece of so many bytes into and send; -1: none is free. Long pieces leave half of them to short
  /// ones: the more of them are on their way, the more is written and read elsewhere than in the near caches.
  [[nodiscard]] int take_area(int lane, std::size_t bytes);
  /// Whether the other side was the last to read an area of take_area(): this side's caches do not have it.
  [[nodiscard]] bool is_cold(int area) const { return is_cold_[index(area)]; }
  /// Before a piece is written to area(code), from `phase` on, and sent in a ring.
  void own_for_piece(int lane, int code, std::size_t phase, std::size_t bytes) const {
    const Lane& at = lanes_[index(lane)];
    own(area(code) + phase, bytes);
    own(lines(at.out, at.sent & ring_mask_), sizeof(Envelope));
  }
  /// After a piece was sent in a ring, if it is likely that a like one comes next.
  void own_for_next(int lane, std::size_t phase, std::size_t bytes) const {
    if (!owned_.empty() && is_cold(owned_.back())) own_for_piece(lane, owned_.back(), phase, bytes);
  }
  /// A piece that was written to area(code): one of take_area(), or a published one of this side.
  void send_area(Stream stream, Envelope envelope, int code, std::size_t phase) {
    envelope.area = static_cast<std::uint8_t>(code + 1);
    envelope.phase = static_cast<std::uint8_t>(phase);
    send(stream, envelope, nullptr, 0);
  }
  /// A piece that the receiver reads in place. It must stay as it is until has_read() the number that this gives.
  std::uint64_t lend(Stream stream, Envelope envelope, const Loan& loan) {
    envelope.area = Envelope::lent;
    return lend_as(stream, envelope, loan);
  }
  [[nodiscard]] bool has_read(int lane, std::uint64_t loan) const {
    return lanes_[index(lane)].credits_for_me[loans].load(std::memory_order_acquire) >= loan;
  }
  /// What is left of a message, wherever it is in this rank's memory: a loan that may be refused. Of a ring only, and
  /// no message may follow before has_read().
  std::uint64_t expose(Stream stream, Envelope envelope, const std::byte* data) {
    envelope.area = Envelope::exposed;
    const auto source = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(data));
    return lend_as(stream, envelope, {.source = source});
  }
  /// Once what was exposed has_read(): the byte of the message from which on the other side could not read; -1: it has
  /// read all. To be asked once.
  [[nodiscard]] std::int64_t refused_from(int lane) {
    std::atomic<std::uint64_t>& word = lanes_[index(lane)].credits_for_me[refused];
    const std::uint64_t said = word.load(std::memory_order_relaxed);
    if (said != 0) word.store(0, std::memory_order_relaxed);  // the other side writes it again after the next message
    return static_cast<std::int64_t>(said) - 1;
  }
  /// A piece that was already written to where the receiver wants it.
  void send_delivered(Stream stream, Envelope envelope) {
    envelope.area = Envelope::delivered;
    send(stream, envelope, nullptr, 0);
  }
  [[nodiscard]] std::byte* area(int code) const { return pair_ + geometry_.area_at(code); }
  [[nodiscard]] int published_code(int published) const { return geometry_.areas() + published; }

  // Receiving: once the next message of a stream is there, read it, then release() it.
  /// The place of the next message of a stream.
  class Incoming {
   public:
    Incoming() = default;
    Incoming(const Line* lines, std::uint64_t flag) : lines_(lines), flag_(flag) {}
    [[nodiscard]] bool is_known() const { return lines_ != nullptr; }
    /// At least its first line.
    [[nodiscard]] bool is_there() const { return lines_->flag.load(std::memory_order_acquire) == flag_; }
    /// Asks for the further lines of a message in a slot, before its first is known to be there: if it is, they come at
    /// the same time, not after it.
    void expect(std::size_t bytes) const {
      const Line* line = lines_;
      for (std::size_t done = in_first_line; done < bytes; done += Line::capacity)
        __builtin_prefetch(++line);
    }
    [[nodiscard]] Envelope envelope() const {
      Envelope envelope;
      std::memcpy(&envelope, lines_->payload, sizeof envelope);
      return envelope;
    }
    /// The data of a message without area, up to in_first_line.
    [[nodiscard]] const std::byte* data() const { return lines_->payload + sizeof(Envelope); }
    /// Copies the data of a message without area. False: look again later.
    [[nodiscard]] bool read(std::byte* into, std::size_t bytes) const { return unpack(lines_, flag_, into, bytes); }
    /// What came with Envelope::lent or exposed.
    [[nodiscard]] Loan loan() const {
      Loan loan;
      std::memcpy(&loan, data(), sizeof loan);
      return loan;
    }

   private:
    const Line* lines_ = nullptr;
    std::uint64_t flag_ = 0;
  };
  [[nodiscard]] Incoming incoming(Stream stream) const {
    const Lane& lane = lanes_[index(stream.lane)];
    if (stream.way == Way::swap) {
      const Slot slot = swapped(lane, stream.slot, lane.swaps[index(stream.slot)].in, 1 - side_);
      return {slot.lines, slot.flag};
    }
    return {lines(lane.in, lane.received & ring_mask_), lane.received + 1};
  }
  /// The data of a message with an area.
  [[nodiscard]] const std::byte* piece(const Envelope& envelope) const;
  /// The message has been read.
  void release(Stream stream, const Envelope& envelope) {
    Lane& lane = lanes_[index(stream.lane)];
    if (stream.way == Way::swap)
      ++lane.swaps[index(stream.slot)].in;
    else
      release_slot(lane);
    if (envelope.area != 0) release_piece(lane, envelope);
  }

  /// What was exposed cannot be read from byte `from` of its message on. To be called before its release().
  void refuse(int lane, std::int64_t from) const {
    const auto said = static_cast<std::uint64_t>(from) + 1;
    lanes_[index(lane)].credits_of_mine[refused].store(said, std::memory_order_relaxed);  // release() tells of it, too
  }
  /// Takes in what the other side gave back.
  void collect();

  // What there is of everything, for tests.
  [[nodiscard]] int owned() const { return static_cast<int>(owned_.size()); }
  [[nodiscard]] std::size_t given_back() const { return given_back_; }

 private:
  /// Messages that went through a slot, each way.
  struct Swap {
    std::uint64_t out = 0, in = 0;
  };
  struct Lane {
    std::byte* swapped = nullptr;
    std::byte *out = nullptr, *in = nullptr;  ///< Rings.
    std::atomic<std::uint64_t>*credits_for_me = nullptr, *credits_of_mine = nullptr;
    std::array<Swap, Geometry::most_swap_slots> swaps{};
    std::uint64_t sent = 0, acknowledged = 0;
    std::uint64_t received = 0, credited = 0;
    std::uint64_t lent = 0, returned = 0;  ///< Pieces that the other side reads, has been read by this one, in place.
    bool has_reserve = true;
  };
  struct Slot {
    Line* lines;
    std::uint64_t flag;
  };

  /// In a line of credits: behind those of the ring the loans that were read, and from which byte on the last one was
  /// refused.
  static constexpr int loans = 1, refused = 2;
  static std::size_t index(int number) { return static_cast<std::size_t>(number); }
  bool has_credit(int lane);
  std::uint64_t lend_as(Stream stream, const Envelope& envelope, const Loan& loan) {
    send(stream, envelope, reinterpret_cast<const std::byte*>(&loan), sizeof loan);
    return ++lanes_[index(stream.lane)].lent;
  }
  void release_slot(Lane& lane) const;
  void release_piece(Lane& lane, const Envelope& envelope);
  void give_back(int code);
  [[nodiscard]] Line* lines(std::byte* slots, std::uint64_t slot) const {
    return reinterpret_cast<Line*>(slots + slot * slot_bytes_);
  }
  /// The half of a slot that message n from `side` is in: each end writes where the other's message n - 1 arrived.
  [[nodiscard]] Slot swapped(const Lane& lane, int slot, std::uint64_t n, int side) const {
    const std::uint64_t half = (n + static_cast<std::uint64_t>(side)) & 1U;
    return {lines(lane.swapped, 2 * static_cast<std::uint64_t>(slot) + half), n + 1};
  }
  /// The slot of the next message, which is thereby sent.
  [[nodiscard]] Slot outgoing(Stream stream) {
    Lane& lane = lanes_[index(stream.lane)];
    if (stream.way == Way::swap) return swapped(lane, stream.slot, lane.swaps[index(stream.slot)].out++, side_);
    const std::uint64_t n = lane.sent++;
    return {lines(lane.out, n & ring_mask_), n + 1};
  }

  static constexpr std::uint64_t returns = line_bytes / sizeof(std::uint16_t);
  /// All areas that a side can have to give back find room there: of the pool, the other side's reserves and published
  /// ones.
  static_assert(2 * Geometry{}.pool + Geometry{}.all_lanes() + Geometry{}.published <= static_cast<int>(returns));
  using Returns = std::atomic<std::uint16_t>;  // each: code + 1 and the parity of its lap around the line

  Geometry geometry_;
  std::uint64_t ring_mask_, slot_bytes_;
  std::byte* pair_;
  std::byte* published_;
  Publisher& publisher_;
  int side_;
  std::vector<Lane> lanes_;
  std::vector<std::uint8_t> owned_;  ///< Areas, the one gained last at the end.
  std::vector<bool> is_cold_;        ///< By area.
  Returns *returns_in_, *returns_out_;
  std::uint64_t taken_back_ = 0, given_back_ = 0;
};

}  // namespace tutti::shm
