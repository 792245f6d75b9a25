#pragma once
// The state that all parts of a port share: the plan whose messages they move, the route of these, and the current run.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/core/exec/port.hpp"
#include "lib/core/plan/shared_plan.hpp"
#include "lib/core/transport/shm/eager/channel.hpp"
#include "lib/core/transport/shm/route.hpp"

namespace tutti::shm {

struct PortContext {
  /// Opens the channels that the plan needs. Throws Error if there is no memory for them.
  PortContext(const Route& where, const SharedPlan& what);

  /// The additions to a step; none to a message of Transport::ipc, whose additions are for the device.
  [[nodiscard]] const SideStep& side_of(const CompiledStep& step) const {
    static constexpr SideStep nothing{};
    return step.transport == Transport::ipc ? nothing : plan->side(step);
  }
  [[nodiscard]] int local_of(const CompiledStep& step) const {
    return route.locals[static_cast<std::size_t>(step.peer)];
  }
  [[nodiscard]] Channel& channel_of(const CompiledStep& step) const {
    return *channels[static_cast<std::size_t>(step.peer)];
  }
  [[nodiscard]] Ring& ring_of(const CompiledStep& step) const { return channel_of(step).ring(lane); }
  [[nodiscard]] Envelope envelope_of(const CompiledStep& step, Where where = Where::cell,
                                     std::int64_t bytes_in_cell = 0) const {
    return {.bytes = static_cast<std::uint32_t>(step.bytes),
            .operation = sequence,
            .message = static_cast<std::uint32_t>(step.message),
            .where = where,
            .number = static_cast<std::uint16_t>(bytes_in_cell)};
  }
  /// Sends so many bytes of a message in a cell.
  void send_in_cell(Ring& ring, const CompiledStep& step, const std::byte* data, std::int64_t bytes) const {
    ring.send(envelope_of(step, Where::cell, bytes), data, static_cast<std::size_t>(bytes));
  }
  void set_turn(std::uint64_t number, int its_lane) {
    sequence = static_cast<std::uint32_t>(number) ^ plan->fingerprint;
    lane = its_lane;
  }
  [[nodiscard]] bool fits_cell(const CompiledStep& step) const { return step.bytes <= cell_bytes; }
  /// The bytes that came in one.
  [[nodiscard]] bool fits_cell(const Envelope& came) const { return came.number <= cell_bytes; }
  /// Where in the heap the receiver is to read a piece; -1: it is copied.
  [[nodiscard]] std::int64_t lent_from(const CompiledStep& step, const std::byte* data, std::int64_t bytes) const {
    const bool may_be_lent = heap != nullptr && bytes >= tuning.least_lent && !side_of(step).makes_room;
    return may_be_lent ? heap->offset_of(data, bytes) : -1;
  }
  /// Whether the sender of a message has so many bytes there in the heap.
  [[nodiscard]] bool is_in_heap(const CompiledStep& step, std::int64_t offset, std::int64_t bytes) const {
    return heap != nullptr && heap->is_of(local_of(step), offset, bytes);
  }
  /// The data of a piece that has come, in memory that this rank maps; nullptr: they are elsewhere, or the envelope is
  /// damaged.
  [[nodiscard]] const std::byte* mapped_piece(const CompiledStep& step, const Envelope& came, std::int64_t bytes) const;
  /// Puts a piece where it belongs, straight from the memory in which it arrived.
  void take(const CompiledStep& step, const Operands& data, const std::byte* piece, std::int64_t bytes) const {
    if (step.is_moved_only())
      std::memcpy(data.into, piece, static_cast<std::size_t>(bytes));
    else
      plan->combine(step.lands_left ? piece : data.lhs, step.lands_left ? data.rhs : piece, data.into, bytes);
  }
  /// Combines a piece of a receive-and-reduce; `also` gets the result too.
  void take(const CompiledStep& step, const Operands& data, const std::byte* piece, std::byte* also,
            std::int64_t bytes) const {
    plan->combine(step.lands_left ? piece : data.lhs, step.lands_left ? data.rhs : piece, data.into, also, bytes);
  }

  Route route;
  const SharedPlan* plan;
  std::int64_t piece_bytes = 0, cell_bytes = 0;
  std::vector<Channel*> channels{};  ///< To each rank of the communicator; nullptr: the plan has no message.
  const NodeHeap* heap = nullptr;    ///< Memory that is read in place; nullptr: none.
  const Bases* bases = nullptr;
  /// Per step of a plan with forwards: bytes of a send that were sent, or written where they belong, before it began.
  std::vector<std::int64_t> forwarded{}, delivered{};
  int lane = 0;                ///< This and the next: of this run, or of all messages that take no turns.
  std::uint32_t sequence = 0;  ///< Mixed with the plan's fingerprint.
};

}  // namespace tutti::shm
