#pragma once
// A long message that both its ranks copy, or reduce, at the same time: the receiver from its beginning on, by reading
// in the sender's memory, the sender from its end on, by writing in the receiver's; or the sender alone (what is
// pushed).

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tutti::shm {

/// One message at a time between two ranks, one way, in one lane: a few words that both see. The receiver opens it, as
/// soon as it knows where the message belongs: the message itself may come later. Both then take parts and copy them
/// until nothing is left. It is over when the sender has written all that it took. Nothing here blocks.
///
/// A sender may be late, and still look for parts of a message that the receiver has copied alone, while that opens
/// another one: so what is taken bears the message's number. It cannot be more than one, as the one after that has to
/// be sent first.
class SharedCopy {
 public:
  struct Part {
    std::int64_t begin = 0, bytes = 0;  ///< Of the message. No bytes: nothing is left.
  };
  /// What becomes of the message: it is copied, or reduced with an operand of the receiver, on the left or the right of
  /// it.
  enum class Kind : std::uint8_t { copied, reduced_left, reduced_right };
  static constexpr int words = 5;
  /// Shorter messages are copied before the other rank could help, and longer ones cannot be counted.
  [[nodiscard]] static bool serves(std::int64_t bytes) {
    constexpr std::int64_t least = 64 * 1024L, most = std::int64_t{1} << 35U;
    return bytes >= least && bytes < most;
  }

  /// `at`: `words` of them, all zero at first. `number`: of no other message, from 1 on; `bytes`: it has so many.
  SharedCopy(std::atomic<std::uint64_t>* at, std::uint64_t number, std::int64_t bytes)
      : words_(at), number_(number), bytes_(bytes), units_(static_cast<std::uint64_t>((bytes + unit - 1) / unit)) {}

  // The receiver.
  /// What the receiver takes at once, unless it has something else to do: half of what is copied, and five eighths of
  /// what is reduced, as the sender would have to read the operand and to write the result; at most a mebibyte.
  enum class First : std::uint8_t { none, half, most };
  /// It belongs from `into` on; `operand`: what it is reduced with, at another place. Gives the first part, always the
  /// same one: what is received again and again stays in the caches of who copies it.
  Part open(Kind kind, std::byte* into, const std::byte* operand, First first) {
    words_[target].store(reinterpret_cast<std::uintptr_t>(into), std::memory_order_relaxed);
    words_[reduced_with].store(reinterpret_cast<std::uintptr_t>(operand), std::memory_order_relaxed);
    words_[written].store(0, std::memory_order_relaxed);
    words_[taken].store(untaken(), std::memory_order_relaxed);
    const Part part = first == First::none ? Part{}
                      : first == First::half
                          ? take_first()
                          : take(End::front, [](std::uint64_t left) { return half_of(left + left / 4); });
    words_[opened].store(key() << kind_bits | static_cast<std::uint64_t>(kind), std::memory_order_release);
    return part;
  }
  Part take_first() { return take(End::front, half_of); }
  /// The sender gets no more parts.
  void close() {
    take(End::front, [](std::uint64_t left) { return left; });
  }
  /// Whether all was taken, and what the sender took is written.
  [[nodiscard]] bool is_written() const {
    const std::uint64_t word = words_[taken].load(std::memory_order_relaxed);
    return front_of(word) + back_of(word) == units_ && words_[written].load(std::memory_order_acquire) == back_of(word);
  }
  /// Whether it could not, and takes no more: what it took is left.
  [[nodiscard]] bool has_failed() const { return words_[written].load(std::memory_order_acquire) == failed; }

  /// It is over, or comes another way.
  void end() { words_[opened].store(0, std::memory_order_relaxed); }

  // The sender.
  /// Nothing: it is not, or not yet.
  [[nodiscard]] std::optional<Kind> opened_as() const {
    const std::uint64_t word = words_[opened].load(std::memory_order_acquire);
    if (word >> kind_bits != key()) return std::nullopt;
    return static_cast<Kind>(word & ((1U << kind_bits) - 1));
  }
  Part take_last() {
    return take(End::back, [](std::uint64_t left) { return left <= last_units ? left : half_of(left); });
  }
  /// Where in the receiver's memory byte `begin` of the message belongs, and where that of the operand is.
  [[nodiscard]] std::uint64_t target_of(std::int64_t begin) const {
    return words_[target].load(std::memory_order_relaxed) + static_cast<std::uint64_t>(begin);
  }
  [[nodiscard]] std::uint64_t operand_of(std::int64_t begin) const {
    return words_[reduced_with].load(std::memory_order_relaxed) + static_cast<std::uint64_t>(begin);
  }
  /// What was taken last is there.
  void has_written() {
    words_[written].store(back_of(words_[taken].load(std::memory_order_relaxed)), std::memory_order_release);
  }
  /// It is not, and nothing more will be.
  void fails() { words_[written].store(failed, std::memory_order_release); }

 private:
  enum class End : std::uint8_t { front, back };
  enum : std::uint8_t { target, reduced_with, opened, taken, written };  // words
  /// Parts are cut at multiples. A part is not so short that the system call costs more than the copy, and not so long
  /// that other messages wait for it. What the sender takes at once at the end.
  static constexpr std::int64_t unit = 4096;
  static constexpr std::uint64_t least_units = 4, most_units = 256, last_units = 128;
  static constexpr std::uint64_t failed = ~std::uint64_t{0};

  // What was taken, in units: from the front and from the back, below the number of the message.
  static constexpr unsigned unit_bits = 24, size_bits = 36, kind_bits = 2;
  static constexpr std::uint64_t unit_mask = (std::uint64_t{1} << unit_bits) - 1;
  static std::uint64_t front_of(std::uint64_t word) { return word >> unit_bits & unit_mask; }
  static std::uint64_t back_of(std::uint64_t word) { return word & unit_mask; }
  [[nodiscard]] std::uint64_t untaken() const { return number_ << 2 * unit_bits; }
  /// Of a message of so many bytes: another one would be an error, of which the receiver tells once it is there.
  [[nodiscard]] std::uint64_t key() const {
    return (number_ << size_bits | static_cast<std::uint64_t>(bytes_)) & (~std::uint64_t{0} >> kind_bits);
  }

  static std::uint64_t half_of(std::uint64_t left) {
    return std::min(left, std::clamp((left + 1) / 2, least_units, most_units));
  }
  /// `share`: units of so many that are left.
  template <class Share>
  Part take(End end, Share share) {
    std::uint64_t before = words_[taken].load(std::memory_order_relaxed);
    for (;;) {
      if (before >> 2 * unit_bits != untaken() >> 2 * unit_bits) return {};  // it is over: this is the next one
      const std::uint64_t front = front_of(before), back = back_of(before), left = units_ - front - back;
      if (left == 0) return {};
      const std::uint64_t units = share(left);
      const std::uint64_t after = before + (end == End::front ? units << unit_bits : units);
      if (!words_[taken].compare_exchange_weak(before, after, std::memory_order_relaxed)) continue;
      const std::uint64_t first = end == End::front ? front : units_ - back - units;
      const std::int64_t begin = static_cast<std::int64_t>(first) * unit;
      return {begin, std::min(static_cast<std::int64_t>(units) * unit, bytes_ - begin)};
    }
  }

  std::atomic<std::uint64_t>* words_;
  std::uint64_t number_;
  std::int64_t bytes_;
  std::uint64_t units_;
};

}  // namespace tutti::shm
