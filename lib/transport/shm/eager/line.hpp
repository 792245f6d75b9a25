#pragma once
// Small messages in flagged cache lines.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// A cache line with its own flag, written last: whoever sees the flag sees the payload. A message of several lines has
/// a flag in each, so that a reader fetches all of them at once instead of waiting for one before it asks for the rest.
struct alignas(line_bytes) Line {
  static constexpr std::size_t capacity = 56;
  std::byte payload[capacity];
  std::atomic<std::uint64_t> flag;  ///< Number of the message on its stream, from 1; memory starts as 0.
};
static_assert(sizeof(Line) == line_bytes && std::atomic<std::uint64_t>::is_always_lock_free);

/// What a message says of itself, at the head of its first line.
struct Envelope {
  std::uint32_t bytes = 0;      ///< Of the whole message, modulo 2^32.
  std::uint32_t operation = 0;  ///< Sequence number of the operation, modulo 2^32.
  std::uint32_t message = 0;    ///< Number on its pair and direction.
  std::uint8_t area = 0;        ///< 0: the data follow; else they are in area - 1, or one of the three below.
  std::uint8_t phase = 0;       ///< Where in the area they begin.
  std::uint16_t unused = 0;

  static constexpr std::uint8_t lent = 255;       ///< The data are in the sender's Tutti memory: a Loan follows.
  static constexpr std::uint8_t delivered = 254;  ///< The data are where they belong: see Loan::answer.
  static constexpr std::uint8_t exposed = 253;    ///< All that is left of the message is in the sender's own memory.

  /// Whether it names none of the areas, though the data are not in the slot.
  [[nodiscard]] bool is_elsewhere() const { return area >= exposed; }

  /// Whether both are of the same message; where its data are is no part of that.
  [[nodiscard]] bool is_same(const Envelope& other) const {
    return bytes == other.bytes && operation == other.operation && message == other.message;
  }
};

/// Where a piece is that the receiver reads in place: offsets in the node's heap; with Envelope::exposed an address.
struct Loan {
  std::int64_t source = -1;
  /// Where the receiver may write, as soon as it has read the piece, what message `answer_message` would bring from it;
  /// -1: nowhere.
  std::int64_t answer = -1;
  std::int32_t answer_message = -1;
  std::int32_t unused = 0;
};

inline constexpr std::size_t in_first_line = Line::capacity - sizeof(Envelope);
static_assert(in_first_line == 40);         // as Geometry::slot_lines counts
static_assert(sizeof(Envelope) % 16 == 0);  // elements are read where they are

/// Moves lines that another core will read on to the cache that the cores share: it then need not fetch them from this
/// core's own. A hint of some of Intel's processors, which others take for no operation.
inline void demote([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__)
  const auto* const begin = static_cast<const std::byte*>(data);
  const auto* const first = begin - reinterpret_cast<std::uintptr_t>(begin) % line_bytes;
  for (const std::byte* line = first; line < begin + bytes; line += line_bytes)
    asm volatile(".byte 0x0f, 0x1c, 0x00" : : "a"(line) : "memory");  // cldemote (%rax)
#endif
}

/// Asks for lines that this core is about to write and that another one has: for all at once, where stores would ask
/// for few at a time. Not __builtin_prefetch(line, 1), which asks for them to be read unless the whole build is for
/// processors that have this instruction; others take it for no operation.
inline void own([[maybe_unused]] const void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__x86_64__)
  const auto* const begin = static_cast<const std::byte*>(data);
  const auto* const first = begin - reinterpret_cast<std::uintptr_t>(begin) % line_bytes;
  for (const std::byte* line = first; line < begin + bytes; line += line_bytes)
    asm volatile("prefetchw %0" : : "m"(*line));
#endif
}

/// memcpy of at most a line, without the call: sizes here are small and vary.
inline void copy_part(std::byte* into, const std::byte* from, std::size_t bytes) {
  std::size_t done = 0;
  for (; bytes - done >= sizeof(std::uint64_t); done += sizeof(std::uint64_t))
    std::memcpy(into + done, from + done, sizeof(std::uint64_t));
  for (; done < bytes; ++done)
    into[done] = from[done];
}

/// Writes a message of up to Geometry::inline_bytes, or the envelope alone of one whose data are elsewhere.
inline void pack(Line* line, std::uint64_t flag, const Envelope& envelope, const std::byte* data, std::size_t bytes) {
  const Line* const first_line = line;
  std::memcpy(line->payload, &envelope, sizeof envelope);
  const std::size_t first = bytes < in_first_line ? bytes : in_first_line;
  copy_part(line->payload + sizeof envelope, data, first);
  line->flag.store(flag, std::memory_order_release);
  for (std::size_t done = first; done < bytes; done += Line::capacity) {
    ++line;
    if (bytes - done >= Line::capacity)
      std::memcpy(line->payload, data + done, Line::capacity);
    else
      copy_part(line->payload, data + done, bytes - done);
    line->flag.store(flag, std::memory_order_release);
  }
  demote(first_line, static_cast<std::size_t>(line + 1 - first_line) * sizeof(Line));
}

/// Reads what pack() wrote, its first line's flag having been seen. False: lines are still on their way (their writer
/// may have lost its processor); what was read of them counts for nothing, to be read again.
inline bool unpack(const Line* line, std::uint64_t flag, std::byte* into, std::size_t bytes) {
  constexpr int patience = 64;  // looks at one line
  const std::size_t first = bytes < in_first_line ? bytes : in_first_line;
  copy_part(into, line->payload + sizeof(Envelope), first);
  for (std::size_t done = first; done < bytes; done += Line::capacity) {
    ++line;
    int looks = 0;
    while (line->flag.load(std::memory_order_acquire) != flag)
      if (++looks == patience) return false;
    if (bytes - done >= Line::capacity)
      std::memcpy(into + done, line->payload, Line::capacity);
    else
      copy_part(into + done, line->payload, bytes - done);
  }
  return true;
}

}  // namespace tutti::shm
