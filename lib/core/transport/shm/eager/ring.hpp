#pragma once
// One lane between two ranks: a ring of eager cells in each direction, and the credits that come back.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lib/core/transport/shm/eager/cell.hpp"
#include "lib/core/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// The next message of a ring, which may not be there yet.
class Incoming {
 public:
  Incoming() = default;
  Incoming(const Line* lines, std::uint64_t flag) : lines_(lines), flag_(flag) {}
  [[nodiscard]] bool is_known() const { return lines_ != nullptr; }
  /// At least its first line.
  [[nodiscard]] bool is_there() const { return lines_->flag.load(std::memory_order_acquire) == flag_; }
  /// Asks for the further lines of a message in a cell, before its first is known to be there: if it is, they come at
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
  /// The data in a cell, up to in_first_line.
  [[nodiscard]] const std::byte* data() const { return lines_->payload + sizeof(Envelope); }
  /// Copies the data in a cell. False: look again later.
  [[nodiscard]] bool read(std::byte* into, std::size_t bytes) const { return unpack(lines_, flag_, into, bytes); }
  /// Where the data are: the Loan of Where::lent, or the DeviceLoan of on_device.
  template <class Kind = Loan>
  [[nodiscard]] Kind loan() const {
    Kind loan;
    std::memcpy(&loan, data(), sizeof loan);
    return loan;
  }

 private:
  const Line* lines_ = nullptr;
  std::uint64_t flag_ = 0;
};

/// One rank's end. Messages arrive in the order in which they were sent. Nothing here blocks.
class Ring {
 public:
  /// `pair`: as for Channel.
  Ring(const Geometry& geometry, std::byte* pair, int side, int lane)
      : mask_(static_cast<std::uint64_t>(geometry.cells) - 1),
        stride_(static_cast<std::uint64_t>(geometry.cell_stride())),
        out_(pair + geometry.ring_at(lane, side)),
        in_(pair + geometry.ring_at(lane, 1 - side)),
        credits_for_me_(reinterpret_cast<Credit*>(pair + geometry.credits_at(lane, side))),
        credits_of_mine_(reinterpret_cast<Credit*>(pair + geometry.credits_at(lane, 1 - side))) {}

  // Sending: first may_send(), then one of the others.
  [[nodiscard]] bool may_send() { return sent_ - acknowledged_ <= mask_ || has_credit(); }
  /// Whether the other side gave back more cells than were sent: it will never be right again.
  [[nodiscard]] bool is_overdrawn() const { return acknowledged_ > sent_; }
  /// A message of up to cell_bytes, a part of one that is longer, or the envelope alone of a piece that is elsewhere.
  void send(const Envelope& envelope, const std::byte* data, std::size_t bytes) {
    const std::uint64_t n = sent_++;
    pack(cell(out_, n), n + 1, envelope, data, bytes);
  }
  /// A piece that the receiver reads where it is. It must stay as it is until has_read() the number that this gives.
  /// With Where::on_device it is all of the message; the receiver may refuse it, and no message may follow before
  /// has_read().
  template <class Kind = Loan>
  std::uint64_t lend(const Envelope& envelope, const Kind& loan) {
    send(envelope, reinterpret_cast<const std::byte*>(&loan), sizeof loan);
    return ++lent_;
  }
  [[nodiscard]] bool has_read(std::uint64_t loan) const {
    return credits_for_me_[loans].load(std::memory_order_acquire) >= loan;
  }
  /// Once data on a device were read or refused (has_read()): whether they were refused. To be called once.
  [[nodiscard]] bool was_refused() {
    const bool said = credits_for_me_[refused].load(std::memory_order_relaxed) != 0;
    if (said) credits_for_me_[refused].store(0, std::memory_order_relaxed);  // written again after the next message
    return said;
  }

  // Receiving: once the next message is there, read it, then release() it.
  [[nodiscard]] Incoming incoming() const { return {cell(in_, received_), received_ + 1}; }
  /// Gives cells back, half a ring at a time: one line then tells of several messages, and a sender that waits is never
  /// forgotten.
  void release() {
    ++received_;
    if (2 * (received_ - credited_) <= mask_) return;
    credited_ = received_;
    credits_of_mine_->store(received_, std::memory_order_release);
  }
  /// Tells the sender that data which it lent have been read, or refused.
  void release_loan() { credits_of_mine_[loans].store(++returned_, std::memory_order_release); }
  /// Tells the sender that this side cannot read its data on a device. To be called before release_loan().
  void refuse() const { credits_of_mine_[refused].store(1, std::memory_order_relaxed); }

  /// All that it keeps to itself, for tests.
  [[nodiscard]] std::array<std::uint64_t, 4> state() const { return {sent_, acknowledged_, received_, credited_}; }

 private:
  using Credit = std::atomic<std::uint64_t>;
  /// In a line of credits: behind those of the ring the loans that were read, and whether the last one was refused.
  static constexpr int loans = 1, refused = 2;
  bool has_credit() {
    acknowledged_ = credits_for_me_->load(std::memory_order_acquire);
    return sent_ - acknowledged_ <= mask_;
  }
  [[nodiscard]] Line* cell(std::byte* ring, std::uint64_t number) const {
    return reinterpret_cast<Line*>(ring + (number & mask_) * stride_);
  }

  std::uint64_t mask_, stride_;
  std::byte *out_, *in_;
  Credit *credits_for_me_, *credits_of_mine_;
  std::uint64_t sent_ = 0, acknowledged_ = 0;
  std::uint64_t received_ = 0, credited_ = 0;
  std::uint64_t lent_ = 0, returned_ = 0;  ///< Pieces that the other side reads, has been read by this one, in place.
};

}  // namespace tutti::shm
