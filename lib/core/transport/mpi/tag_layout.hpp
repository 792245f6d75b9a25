#pragma once
// How contexts, sequence numbers and message numbers share the tags that an MPI offers.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tutti::mpi {

/// A message is (context, sequence of the operation, number on its pair). A tag holds the context, the sequence modulo
/// turns() and the number modulo a power of two. What is left holds a part of the fingerprint of the call, so that most
/// messages of a call that does not match are not taken for those of the right one. Contexts are never shared,
/// operation s + turns starts only when operation s is over on this rank, and message m + messages of a pair only when
/// message m is. As MPI keeps messages of one pair and tag in order, none is mistaken. Messages between two ranks that
/// are part of no collective have a tag of their own for each class, and are matched by that order alone.
class TagLayout {
 public:
  static constexpr int most_context_bits = 14, most_contexts = 1 << most_context_bits;

  /// More turns, and messages, than anybody waits for: the bits serve better for fingerprints.
  static constexpr int most_sequence_bits = 6, most_message_bits = 6;

  int context_bits, sequence_bits, fingerprint_bits, message_bits;

  /// For tags 0..upper_bound, of which the standard promises 32,767 or more: 1,024 contexts of 8 x 4 then, without
  /// fingerprints.
  static constexpr TagLayout within(std::int64_t upper_bound) {
    const int width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(upper_bound) + 1));
    const int bits = width - 1;
    const int extra = std::max(0, bits - 15);
    const int context = std::min(most_context_bits, 10 + extra / 3);
    const int sequence = std::min(most_sequence_bits, 3 + extra / 3);
    const int message = std::clamp(bits - context - sequence, 2, most_message_bits);
    return {context, sequence, std::max(0, bits - context - sequence - message), message};
  }
  [[nodiscard]] constexpr int contexts() const { return 1 << context_bits; }
  /// Contexts that communicators may have; the last one is the channel's.
  [[nodiscard]] constexpr int communicators() const { return contexts() - 1; }
  [[nodiscard]] constexpr int channel() const { return pairwise(communicators()); }
  [[nodiscard]] constexpr int sequences() const { return 1 << sequence_bits; }
  /// Operations that may be under way at a time.
  [[nodiscard]] constexpr int turns() const { return sequences() - 1; }
  [[nodiscard]] constexpr int messages() const { return 1 << message_bits; }
  /// The tag of message 0 of an operation.
  [[nodiscard]] constexpr int base(int context, std::uint64_t sequence, std::uint32_t fingerprint = 0) const {
    const auto part = static_cast<int>(fingerprint & ((1U << fingerprint_bits) - 1));
    return in_slot(context, static_cast<int>(sequence % static_cast<std::uint64_t>(turns()))) | part << message_bits;
  }
  /// The tag of all messages of a class that are part of no collective.
  [[nodiscard]] constexpr int pairwise(int context, int message_class = 0) const {
    return in_slot(context, turns()) | message_class;
  }
  [[nodiscard]] constexpr int tag(int base, int message) const { return base | (message & (messages() - 1)); }
  [[nodiscard]] constexpr int fingerprints() const { return 1 << fingerprint_bits; }
  /// The tag of the same message of a call with that part of a fingerprint.
  [[nodiscard]] constexpr int with_fingerprint(int tag, int part) const {
    return (tag & ~((fingerprints() - 1) << message_bits)) | part << message_bits;
  }

 private:
  [[nodiscard]] constexpr int in_slot(int context, int slot) const {
    return ((context << sequence_bits) | slot) << (fingerprint_bits + message_bits);
  }
};

}  // namespace tutti::mpi
