#pragma once
// How contexts, sequence numbers and message numbers share the tags that an MPI offers.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tutti::mpi {

/// A message is (context, sequence of the operation, number on its pair). A tag holds the context, the sequence modulo
/// turns() and the number modulo a power of two: contexts are never shared, operation s + turns starts only when
/// operation s is over on this rank, and message m + messages of a pair only when message m is. As MPI keeps messages
/// of one pair and tag in order, none is mistaken. Messages between two ranks that are part of no collective have a tag
/// of their own, and are matched by that order alone.
class TagLayout {
 public:
  static constexpr int most_context_bits = 14, most_contexts = 1 << most_context_bits;

  int context_bits, sequence_bits, message_bits;

  /// For tags 0..upper_bound, of which the standard promises 32,767 or more: 1,024 contexts of 8 x 4 then.
  static constexpr TagLayout within(std::int64_t upper_bound) {
    const int width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(upper_bound) + 1));
    const int bits = std::min(30, width - 1);
    const int extra = std::max(0, bits - 15);
    const int context = std::min(most_context_bits, 10 + extra / 3), sequence = 3 + extra / 3;
    return {context, sequence, std::max(2, bits - context - sequence)};
  }
  [[nodiscard]] constexpr int contexts() const { return 1 << context_bits; }
  [[nodiscard]] constexpr int sequences() const { return 1 << sequence_bits; }
  /// Operations that may be under way at a time.
  [[nodiscard]] constexpr int turns() const { return sequences() - 1; }
  [[nodiscard]] constexpr int messages() const { return 1 << message_bits; }
  /// The tag of message 0 of an operation.
  [[nodiscard]] constexpr int base(int context, std::uint64_t sequence) const {
    return in_slot(context, static_cast<int>(sequence % static_cast<std::uint64_t>(turns())));
  }
  /// The tag of all messages that are part of no collective.
  [[nodiscard]] constexpr int pairwise(int context) const { return in_slot(context, turns()); }
  [[nodiscard]] constexpr int tag(int base, int message) const { return base | (message & (messages() - 1)); }

 private:
  [[nodiscard]] constexpr int in_slot(int context, int slot) const {
    return ((context << sequence_bits) | slot) << message_bits;
  }
};

}  // namespace tutti::mpi
