#pragma once
// Eager cells: small messages in flagged cache lines.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/core/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// A cache line with its own flag, written last: a reader that sees the flag sees the payload. A message of several
/// lines has a flag in each, so that a reader fetches all of them at once instead of waiting for one before it asks for
/// the rest.
struct alignas(line_bytes) Line {
  static constexpr std::size_t capacity = 56;
  std::byte payload[capacity];
  std::atomic<std::uint64_t> flag;  ///< Number of the message in its ring, from 1; memory starts as 0.
};
static_assert(sizeof(Line) == line_bytes && std::atomic<std::uint64_t>::is_always_lock_free);

/// Where the data of a piece are.
enum class Where : std::uint8_t {
  cell,       ///< They follow the envelope.
  bounce,     ///< In a bounce buffer of the sender, which the receiver may keep to answer in it.
  shared,     ///< In one that others read, too.
  returned,   ///< In a bounce buffer of the receiver, which the sender had kept.
  lent,       ///< In the sender's Tutti memory: a Loan follows.
  delivered,  ///< Where they belong: see Loan::answer.
  on_device,  ///< All of the message is in the sender's memory on a device: a DeviceLoan follows.
  failed,     ///< Nowhere: the sender has lost the memory of its data.
};

/// The header of a piece of a message, at the head of its first line.
struct Envelope {
  std::uint32_t bytes = 0;      ///< Length of the whole message, modulo 2^32.
  std::uint32_t operation = 0;  ///< Sequence number of the operation, modulo 2^32.
  std::uint32_t message = 0;    ///< Number on its pair and direction.
  Where where = Where::cell;
  std::uint8_t phase = 0;    ///< Where in a bounce buffer the data begin.
  std::uint16_t number = 0;  ///< Number of the bounce buffer; in a cell: bytes of the piece.

  /// Whether both are of the same message; where its data are is no part of that.
  [[nodiscard]] bool is_same(const Envelope& other) const {
    return bytes == other.bytes && operation == other.operation && message == other.message;
  }
};

/// Where a piece is that the receiver reads in place: offsets in the node's heap.
struct Loan {
  std::int64_t source = -1;
  /// Where the receiver may write the data of its message `answer_message`, as soon as it has read the piece. -1:
  /// nowhere.
  std::int64_t answer = -1;
  std::int32_t answer_message = -1;
  std::int32_t unused = 0;
};

/// Where a message is on a device of its sender's, in the table of allocations that the sender lets others map
/// (ExportTable).
struct DeviceLoan {
  std::int32_t place = -1;
  std::uint32_t generation = 0;
  std::int64_t offset = 0;
  // Where the answer may be written, as in Loan. -1: nowhere.
  std::int32_t answer_place = -1;
  std::uint32_t answer_generation = 0;
  std::int64_t answer_offset = 0;
  std::int32_t answer_message = -1;
  std::int32_t unused = 0;
};

inline constexpr std::size_t in_first_line = Line::capacity - sizeof(Envelope);
static_assert(in_first_line == 40);  // as Geometry::cell_lines counts
static_assert(sizeof(Loan) <= in_first_line && sizeof(DeviceLoan) <= in_first_line);
static_assert(sizeof(Envelope) % 16 == 0);  // elements are read where they are

/// Moves lines that another core will read on to the cache that the cores share: it then need not fetch them from this
/// core's own. A hint of some of Intel's processors, which others take for no operation.
inline void demote([[maybe_unused]] const Line* line, [[maybe_unused]] const Line* end) {
#if defined(__x86_64__)
  for (; line < end; ++line)
    asm volatile(".byte 0x0f, 0x1c, 0x00" : : "a"(line) : "memory");  // cldemote (%rax)
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

/// Writes a message of up to Geometry::cell_bytes, or the envelope alone of one whose data are elsewhere.
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
  demote(first_line, line + 1);
}

/// Reads a message that pack() wrote, once its first line's flag has been seen. False: some lines are still on their
/// way (their writer may have lost its processor); the data read so far do not count, and are to be read again.
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
