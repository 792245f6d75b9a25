#pragma once
// The file in which a rank records its operations and their steps, version 1: HOST.RANK.tutti-trace.
//
// A FileHeader, then blocks. A block is a BlockHeader and up to most_records records of 64 bytes each; the first byte
// of a record says which of the structs below it is. Numbers are little-endian, as on the machine that writes them.
// Times are nanoseconds of CLOCK_MONOTONIC, which the processes of one machine share.
//
// Blocks are written whole, so the file of a process that was killed is good up to its last block; a file that was
// closed ends with a block that has the flag `last`. Records are in the order in which they were made: a step when it
// is over, an operation when it begins and again when it ends. Names and communicators come before the records that
// refer to them by number.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::trace {

inline constexpr std::string_view file_suffix = ".tutti-trace";
inline constexpr std::uint32_t version = 1, byte_order = 0x01020304;
inline constexpr std::size_t record_bytes = 64, block_bytes = std::size_t{64} << 10U;
inline constexpr std::size_t most_records = block_bytes / record_bytes - 1;  ///< Records of a block, beside its header.

struct FileHeader {
  std::array<char, 8> magic{'t', 'u', 't', 't', 'i', 't', 'r', 'c'};
  std::uint32_t version = trace::version, byte_order = trace::byte_order;
  std::uint32_t header_bytes = 256, record_bytes = trace::record_bytes;
  std::int32_t rank = 0, ranks = 1;  ///< In MPI_COMM_WORLD.
  std::int64_t process = 0;
  std::int64_t opened_at = 0;      ///< When the file was opened.
  std::int64_t opened_at_utc = 0;  ///< That time by the calendar: nanoseconds since 1970.
  std::array<char, 32> tutti{};    ///< The version of Tutti; zeros fill the place.
  std::array<char, 168> host{};
};
static_assert(sizeof(FileHeader) == 256);

struct BlockHeader {
  std::array<char, 4> magic{'b', 'l', 'c', 'k'};
  std::uint32_t records = 0;   ///< That follow.
  std::uint64_t first = 0;     ///< The number of the first of them in the file.
  std::uint64_t dropped = 0;   ///< Records that were not written until then, as the file had reached its limit.
  std::uint64_t checksum = 0;  ///< Covers this header, with 0 here, and the records: checksum_of().
  std::uint32_t flags = 0;     ///< `last`, or 0.
  std::array<std::uint32_t, 7> unused{};
  static constexpr std::uint32_t last = 1;
};
static_assert(sizeof(BlockHeader) == record_bytes);

enum class RecordKind : std::uint8_t { name = 1, communicator, clock, begin, end, step, wait, writing };

/// A text that other records refer to by its number.
struct NameRecord {
  RecordKind kind = RecordKind::name;
  std::uint8_t unused = 0;
  std::uint16_t number = 0;  ///< One more than that of the name before; the first is 0.
  std::uint32_t length = 0;
  std::array<char, 56> text{};
};

/// A communicator of which this rank is a member. Its records on all ranks agree in context, members and earlier.
struct CommunicatorRecord {
  RecordKind kind = RecordKind::communicator;
  std::array<std::uint8_t, 3> unused{};
  std::uint32_t number = 0;   ///< In this file, from 0.
  std::uint64_t members = 0;  ///< A hash of the ranks in MPI_COMM_WORLD of its ranks.
  std::int32_t context = 0;
  std::int32_t earlier = 0;         ///< Communicators of the same context and members that this process had before.
  std::int32_t rank = 0, size = 1;  ///< In the communicator.
  std::int32_t node = 0, nodes = 1;
  std::int64_t made_at = 0;
  std::array<std::uint8_t, 16> unused_too{};
};

/// The difference between two clocks at a time: that of rank `reference` (of MPI_COMM_WORLD) showed at + offset when
/// that of this rank showed `at`. It was measured by rank `leader`, whose clock is that of this rank.
struct ClockRecord {
  RecordKind kind = RecordKind::clock;
  std::array<std::uint8_t, 7> unused{};
  std::int32_t reference = 0, leader = 0;
  std::int64_t at = 0, offset = 0;
  std::int64_t round_trip =
      0;  ///< Time of the messages that measured the offset, which is wrong by at most half of it.
  std::array<std::uint8_t, 24> unused_too{};
};

/// How an operation was called. `stream`: in the order of a CUDA stream, and moved by the host; `program`: in the order
/// of a stream without the host, so that the times are those of the call, which returns before the data move.
enum class Start : std::uint8_t { blocking, nonblocking, persistent, stream, program };

/// An operation begins: a collective, or messages between pairs of ranks.
struct BeginRecord {
  RecordKind kind = RecordKind::begin;
  Start start = Start::blocking;
  std::uint16_t flags = 0;  ///< `pairwise`, `exchanges`.
  std::uint32_t communicator = 0;
  std::uint64_t operation = 0;  ///< Its number in this file, from 1.
  std::int64_t begin = 0;
  std::uint64_t sequence = 0;  ///< Its number in the communicator, the same on all ranks; without meaning if pairwise.
  std::int64_t bytes = 0;      ///< This rank's input or output, the larger of the two; for messages: sent or received.
  std::int64_t count = 0;      ///< Elements, as in the call; 0 if blocks differ in size.
  std::uint16_t collective = 0, algorithm = 0, type = 0, op = 0;  ///< Names.
  std::int32_t root = -1;                                         ///< -1: it has none.
  std::uint32_t steps = 0;                                        ///< Steps of the plan that it begins with.
  static constexpr std::uint16_t pairwise = 1;                    ///< It is no collective.
  static constexpr std::uint16_t exchanges = 2;  ///< It exchanges sizes first; the data have the next sequence number.
};

struct EndRecord {
  RecordKind kind = RecordKind::end;
  std::uint8_t has_failed = 0;
  std::array<std::uint8_t, 2> unused{};
  std::uint32_t communicator = 0;
  std::uint64_t operation = 0;
  std::int64_t begin = 0;
  std::int64_t turn = 0;  ///< When it began to run, as its turn had come; 0: never.
  std::int64_t end = 0;
  std::array<std::uint8_t, 24> unused_too{};
};

/// `recv_reduce`: a receive whose data are reduced as they arrive. `fetch` and `store`: from and to a device.
/// `finish`: the last pass over the output, of an average or a scaled sum.
enum class Action : std::uint8_t { send, recv, recv_reduce, reduce, copy, fetch, store, finish };
enum class Way : std::uint8_t { none, shm, ipc, mpi, network, device };

/// A step that is over. A receive that is followed by a reduction of the same step has two records.
struct StepRecord {
  RecordKind kind = RecordKind::step;
  Action action = Action::send;
  Way way = Way::none;
  std::uint8_t is_pairwise = 0;  ///< A message that is part of no collective.
  std::int32_t peer = -1;        ///< In the communicator; of fetch and store, the device; else -1.
  std::uint64_t operation = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t bytes = 0;
  std::int32_t message = 0;  ///< Its number on its pair and direction in this operation.
  std::int32_t step = 0;     ///< Its place in the plan.
  /// The number of the operation, or of its exchange of sizes. If pairwise: of the message on its pair and direction.
  std::uint64_t sequence = 0;
  std::int64_t accepted = 0;  ///< When the transport took the message; until then, from `begin`, it was busy.
};

/// The program waited for an operation, and nothing of it moved, until a message was over.
struct WaitRecord {
  RecordKind kind = RecordKind::wait;
  std::array<std::uint8_t, 3> unused{};
  std::int32_t peer = -1;  ///< The other end of that message, in the communicator; -1: a device of this rank.
  std::uint64_t operation = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t idle = 0;  ///< Nanoseconds between the two in which nothing moved: parts of long messages may have.
  std::int32_t step = 0;
  std::array<std::uint8_t, 20> unused_too{};
};

/// The rank wrote blocks of this file, and did nothing else.
struct WritingRecord {
  RecordKind kind = RecordKind::writing;
  std::array<std::uint8_t, 7> unused{};
  std::int64_t begin = 0, end = 0;
  std::int64_t bytes = 0;
  std::array<std::uint8_t, 32> unused_too{};
};

static_assert(sizeof(NameRecord) == record_bytes && sizeof(CommunicatorRecord) == record_bytes &&
              sizeof(ClockRecord) == record_bytes && sizeof(BeginRecord) == record_bytes &&
              sizeof(EndRecord) == record_bytes && sizeof(StepRecord) == record_bytes &&
              sizeof(WaitRecord) == record_bytes && sizeof(WritingRecord) == record_bytes);

/// Sums a block: its header, in which the checksum is 0, and its records, as numbers of 8 bytes. Every 8th belongs
/// to one of 8 chains, which are joined at the end: one chain alone would keep the processor waiting for itself.
[[nodiscard]] std::uint64_t checksum_of(const void* block, std::size_t bytes);

}  // namespace tutti::trace
