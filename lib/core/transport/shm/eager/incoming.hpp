#pragma once
// The place of the next message of a ring.

#include "lib/core/transport/shm/eager/cell.hpp"

namespace tutti::shm {

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

}  // namespace tutti::shm
