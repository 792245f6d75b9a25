#pragma once
// A schedule made ready to run: flat arrays of steps in bytes, with counters instead of lists of dependencies.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/reduce/kernels.hpp"
#include "lib/core/schedule/choice.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/op.hpp"

namespace tutti {

/// recv_reduce receives into one operand of a reduction, which the transport does as the message arrives;
/// recv_then_reduce is the same where the reduction is made once the message is there. combine reduces more than two
/// operands at once (CompiledStep::operands).
enum class Verb : std::uint8_t { send, recv, recv_reduce, recv_then_reduce, reduce, combine, copy };

/// The transport of a message. Both of its ends choose the same. `network`: one that is no part of the core
/// `device`: no other rank, but a device of this one (lib/device/staging). `ipc`: shared memory, for a rank whose
/// data are on a device; to its peer the transport is `shm`, or `ipc` as well (lib/device/ipc).
enum class Transport : std::uint8_t { mpi, network, shm, device, ipc };
inline constexpr std::size_t transport_count = 5;

/// Where bytes are: the buffer, and how many bytes into it.
using Place = std::pair<Buffer, std::int64_t>;

/// Pinned memory of this rank through which the data of device buffers travel. No schedule knows of it.
inline constexpr Buffer staging_buffer{3};

/// Over Transport::device, a receive fetches `lhs` of a device into the staging buffer, and a send stores `lhs` of the
/// staging buffer to `into` of the device number `peer`. Else a send or a copy reads `lhs`; a receive, reduction or
/// copy writes `into`. A recv_reduce has the operands and the result of its reduction; the message lands in the operand
/// that `lands_left` says.
struct CompiledStep {
  Verb verb = Verb::copy;
  bool lands_left = false;
  Transport transport = Transport::mpi;
  Buffer lhs = Buffer::input, rhs = Buffer::input, into = Buffer::input;
  int peer = 0;       ///< Rank in the communicator.
  int message = 0;    ///< Number on its pair and direction.
  int previous = -1;  ///< The step of the message before it on its pair and direction; -1: it is the first.
  int next = -1;      ///< The step of the message after it; -1: it is the last.
  /// The index of its entry in the side table of its transport; -1: none. A reduction that has an entry there may be
  /// done by that transport, in whole or in part, as the messages arrive.
  int side = -1;
  int device = -1;    ///< The number of the device where the data of a message are taken or put; -1: the host's memory.
  int operands = -1;  ///< Of a combine: CompiledPlan::operands[operands] are its operands; -1: of no other.
  int first_dependent = 0, last_dependent = 0;
  std::int64_t lhs_at = 0, rhs_at = 0, into_at = 0;  ///< Bytes from the start of the buffer.
  std::int64_t bytes = 0;
  [[nodiscard]] bool is_message() const { return verb < Verb::reduce; }
  [[nodiscard]] bool receives() const { return is_message() && verb != Verb::send; }
  /// Whether its other end is on the same node.
  [[nodiscard]] bool is_local() const { return transport == Transport::shm || transport == Transport::ipc; }
  [[nodiscard]] bool is_far() const { return transport == Transport::mpi || transport == Transport::network; }
  /// Whether the host only moves the bytes of this receive, and reduces nothing. A device reduces its own.
  [[nodiscard]] bool is_moved_only() const { return verb == Verb::recv || transport == Transport::ipc; }
};

/// How the messages of a plan travel, as far as the order of its steps depends on it.
struct Routing {
  /// Messages of one pair and direction that may be under way, but through shared memory: message m starts when all up
  /// to m - window are over. Transports rely on it to tell messages apart by a few bits, and it bounds how many
  /// receives a plan has posted at a time, however many segments there are. Any window is safe: schedules are proved
  /// for one. A bound on all messages of a plan together would not be: those that it admits might wait for ones that it
  /// does not.
  int window = 1;
  /// So many keep any network busy; of more, an MPI looks through longer lists for each that arrives.
  static constexpr int most_window = 64;
  bool takes_turns = true;  ///< With the next: as CompiledPlan's.
  int message_class = 0;
  Transport far = Transport::mpi;          ///< How messages travel that shared memory does not carry.
  std::span<const std::uint8_t> shared{};  ///< By rank of the communicator: 1 if shared memory does; empty: none.
  /// Through shared memory there is room for so many messages of a pair and direction, each of up to so many bytes,
  /// before the first is received.
  int eager_messages = 0;
  std::int64_t eager_bytes = 0;

  [[nodiscard]] Transport to(Rank peer) const {
    return !shared.empty() && shared[static_cast<std::size_t>(peer.value())] != 0 ? Transport::shm : far;
  }
};

/// How the data of a plan on device buffers travel (lib/device/staging).
struct Staging {
  enum class Worker : std::uint8_t { host, device };
  /// Makes the copies and reductions: the host in the staging buffer, or the device in the caller's buffers.
  Worker worker = Worker::host;
  int device = -1;                  ///< Its number, of the first of several; -1: no buffer is on a device.
  std::int64_t bytes = 0;           ///< The size of the staging buffer.
  Op finish = Op::sum;              ///< The operation whose last pass is made on the device, behind each store.
  std::int64_t moved = 0;           ///< Bytes between host and devices.
  std::int64_t moved_by_other = 0;  ///< Bytes that the other worker would move; -1: there is no choice.
  bool is_direct = false;           ///< Some messages take data where they are on a device.
};

/// Whether an operation needs a last pass over the output. An average in a wider type is divided before it is rounded.
[[nodiscard]] inline bool needs_finish(const Op& op) {
  if (op.accumulate()) return false;
  return op.kind() == Op::Kind::avg || op.kind() == Op::Kind::scaled_sum;
}

struct CompiledPlan {
  Choice choice{};                ///< No algorithm: messages that are part of no collective.
  Problem problem{};              ///< Without its lists, which may be gone.
  std::uint32_t fingerprint = 0;  ///< Equal on all ranks whose calls match: messages of other calls are told by it.
  bool takes_turns = true;        ///< Runs in the order in which all ranks start it; false: messages between pairs.
  /// Messages between pairs that are of different classes (with tags, without) do not meet, nor wait for each other.
  int message_class = 0;
  static constexpr int class_count = 2;
  Type type = Type::int8;
  Op op = Op::sum;
  int ranks = 1;                  ///< For avg.
  std::int64_t count = 0;         ///< Elements of the output that hold results of `op`.
  std::int64_t element = 1;       ///< Bytes of one, a power of two.
  int element_shift = 0;          ///< Its logarithm: divisions cost as much as a small message.
  ReduceKernel reduce = nullptr;  ///< nullptr: op.function().
  std::vector<CompiledStep> steps;
  std::vector<std::vector<Place>> operands{};  ///< CompiledStep::operands indexes this.
  std::vector<int> waits;                      ///< Per step: how many steps must have completed before it starts.
  std::vector<int> dependents;                 ///< CompiledStep::first_dependent..last_dependent index this.
  std::int64_t scratch_bytes = 0;
  int sends = 0, recvs = 0;
  std::array<bool, transport_count> transports{};  ///< Which carry any message.
  ReduceManyKernel reduce_many = nullptr;          ///< nullptr: op.function().
  [[nodiscard]] bool uses(Transport transport) const { return transports[static_cast<std::size_t>(transport)]; }
  /// into = lhs (+) rhs, of so many bytes of elements.
  void combine(const void* lhs, const void* rhs, void* into, std::int64_t bytes) const {
    const std::int64_t elements = bytes >> element_shift;
    if (reduce != nullptr)
      reduce(lhs, rhs, into, static_cast<std::size_t>(elements));
    else
      combine_by_user(lhs, rhs, into, Count{elements});
  }
  /// Throws the exceptions of the user's function, and StateError if it called Tutti.
  void combine_by_user(const void* lhs, const void* rhs, void* into, Count count) const;
  /// combine() whose result also goes to `also`, which may be an operand, if it begins where that does.
  void combine(const void* lhs, const void* rhs, void* into, void* also, std::int64_t bytes) const;
  /// The bytes of a message's pieces but the last: whole elements.
  [[nodiscard]] std::int64_t piece_of(std::int64_t most) const { return most / element * element; }
  /// "allreduce (ring)", for messages.
  [[nodiscard]] std::string name() const;
  /// Starting steps strictly in order delays none: step i + 1 waits for everything that step i waits for.
  bool in_order = false;
  /// Every send is over as soon as it is made: all messages are short, few of a pair, and through shared memory.
  bool is_eager = false;
  Staging staging{};
};

}  // namespace tutti
