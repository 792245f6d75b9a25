#pragma once
// The file in which a rank records the bits of its calls, version 1: rank.RANK.tutti-bits.
//
// A FileHeader, then records of 128 bytes; the first byte of a record says which of the structs below it is. A
// CallRecord may be followed by the data that were hashed, filled up with zeros to a multiple of 8 bytes. Numbers are
// little-endian, as on the machine that writes them.
//
// A call has two records: one when it begins, with the hash of its inputs, and one when it is over, with the hash of
// its results. Records are in the order in which they were made. A communicator comes before the calls that refer to
// it. A file that was closed ends with an EndRecord.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tutti::bits {

inline constexpr std::string_view file_prefix = "rank.", file_suffix = ".tutti-bits";
inline constexpr std::uint32_t version = 1, byte_order = 0x01020304;
inline constexpr std::size_t record_bytes = 128;

struct FileHeader {
  std::array<char, 8> magic{'t', 'u', 't', 't', 'i', 'b', 'i', 't'};
  std::uint32_t version = bits::version, byte_order = bits::byte_order;
  std::uint32_t header_bytes = 256, record_bytes = bits::record_bytes;
  std::int32_t rank = 0, ranks = 1;  ///< In MPI_COMM_WORLD.
  std::int64_t process = 0;
  std::int64_t opened_at_utc = 0;  ///< Nanoseconds since 1970.
  std::int64_t deep = 0;           ///< The most bytes of data that the file may hold beside the hashes.
  std::array<char, 32> tutti{};    ///< The version of Tutti; zeros fill the place.
  std::array<char, 168> host{};
};
static_assert(sizeof(FileHeader) == 256);

enum class RecordKind : std::uint8_t { communicator = 1, begin, over, end };

/// A communicator of which this rank is a member. Its records on all ranks, and in all runs of the program, agree in
/// members and earlier.
struct CommunicatorRecord {
  RecordKind kind = RecordKind::communicator;
  std::array<std::uint8_t, 3> unused{};
  std::uint32_t number = 0;         ///< In this file, from 0.
  std::uint64_t members = 0;        ///< A hash of the ranks in MPI_COMM_WORLD of its ranks.
  std::int32_t earlier = 0;         ///< Communicators of the same members that this process had before.
  std::int32_t rank = 0, size = 1;  ///< In the communicator.
  std::array<std::uint8_t, 92> unused_too{};
  std::uint64_t checksum = 0;  ///< checksum_of().
};

/// Whether the data of a call have a hash, and if not, why.
enum class Hashed : std::uint8_t {
  yes,
  in_stream,   ///< A stream of a device runs the call: its data are not there yet when the host makes it.
  has_gaps,    ///< Elements have bytes that hold nothing, as those of long double.
  unreadable,  ///< The driver refused to copy data of the device.
  failed,      ///< The call failed.
};
inline constexpr int hashed_count = 5;

/// A call begins (`begin`), or is over (`over`).
struct CallRecord {
  RecordKind kind = RecordKind::begin;
  Hashed hashed = Hashed::yes;
  std::uint8_t action = 0;  ///< records::Action.
  std::uint8_t type = 0;    ///< tutti::Type.
  std::uint8_t op = 0;      ///< tutti::Op::Kind.
  std::uint8_t manner = 0;  ///< records::Manner.
  std::uint8_t flags = 0;   ///< `uneven`, `cut`.
  std::uint8_t unused = 0;
  std::uint32_t communicator = 0;
  std::int32_t root = -1;            ///< -1: it has none.
  std::uint64_t number = 0;          ///< On the communicator, from 1: of its collectives, or of its messages.
  std::uint64_t call = 0;            ///< Of this process, from 1.
  std::int64_t count = 0;            ///< Elements, as in the call; of listed blocks 0.
  double scale = 1.0;                ///< Of a scaled sum.
  std::uint64_t lists = 0;           ///< A hash of listed counts, and of the peers of messages.
  std::int64_t bytes = 0;            ///< Of the data that were hashed: inputs, or results.
  std::uint64_t hash = 0;            ///< XXH3, 64 bits, of these data without gaps.
  std::int64_t stored = 0;           ///< Bytes of data that follow: 0, or all.
  std::array<char, 40> algorithm{};  ///< For people; zeros fill the place.
  std::uint64_t checksum = 0;
  static constexpr std::uint8_t uneven = 1;  ///< Blocks are listed.
  static constexpr std::uint8_t cut = 2;     ///< The data do not follow, as the file had reached its limit.
};

struct EndRecord {
  RecordKind kind = RecordKind::end;
  std::array<std::uint8_t, 7> unused{};
  std::uint64_t calls = 0;  ///< That have begun.
  std::array<std::uint8_t, 104> unused_too{};
  std::uint64_t checksum = 0;
};

static_assert(sizeof(CommunicatorRecord) == record_bytes && sizeof(CallRecord) == record_bytes &&
              sizeof(EndRecord) == record_bytes);

/// Data that follow a record take so many bytes of the file.
[[nodiscard]] constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

/// Of a record, whose last 8 bytes, the checksum, do not count.
template <class Record>
[[nodiscard]] std::uint64_t checksum_of(const Record& record) {
  constexpr std::size_t words = record_bytes / sizeof(std::uint64_t) - 1;
  constexpr std::uint64_t prime = 0x9e3779b97f4a7c15U;
  std::array<std::uint64_t, words> all{};
  std::memcpy(all.data(), &record, sizeof all);
  std::uint64_t sum = prime;
  for (const std::uint64_t word : all)
    sum = std::rotl(sum ^ word, 29) * prime;
  return sum;
}

}  // namespace tutti::bits
