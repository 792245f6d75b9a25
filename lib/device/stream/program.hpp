#pragma once
// A plan as a row of commands for one stream, in which messages are written into memory of their receivers, or stay
// where they are.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/core/plan/shared_plan.hpp"

namespace tutti::stream {

/// Bytes that a command reads or writes: of one of the call's buffers, here or at a peer, or of a landing area.
/// Every rank has one, with a part for each peer, in which that peer's messages lie one after the other.
struct Spot {
  enum class Of : std::uint8_t {
    buffer,   ///< One of this rank's own.
    landing,  ///< The part of `peer` in this rank's landing area.
    remote,   ///< The part of this rank in the landing area of `peer`.
    lent,     ///< One of the buffers of `peer`, which this rank may reach.
  };
  Of of = Of::buffer;
  Buffer buffer = Buffer::input;
  int peer = -1;
  std::int64_t at = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

/// Each ordered pair of ranks has one flag, a word of 32 bits that is 0 between programs. The sender counts it up, a
/// message at a time, when the message is there; the receiver sets it to 0 when it needs none of them any more. Thus
/// the values that a program writes and waits for are the same in every run: a graph may repeat it.
enum class Does : std::uint8_t {
  wait_until_free,   ///< Until the flag to `peer` is 0: its landing area has room, or it reads no buffer here any more.
  tell,              ///< Sets the flag to `peer` to `number`.
  wait_for_message,  ///< Until the flag from `peer` is `number` or more.
  release,           ///< Sets the flag from `peer` to 0.
  copy,              ///< The input to each output.
  reduce,            ///< The inputs, from left to right, to each output.
};

/// One entry of a program.
struct Command {
  Does does = Does::copy;
  int peer = -1;
  std::uint32_t number = 0;
  std::vector<Spot> inputs{}, outputs{};
  std::int64_t bytes = 0;
  [[nodiscard]] bool is_of_flag() const { return does < Does::copy; }
};

struct Program {
  std::vector<Command> commands{};
  std::int64_t part_bytes = 0;  ///< The size of the largest part of a landing area that it writes or reads.
};

/// How the data of a message get to its receiver.
struct Delivery {
  enum class Of : std::uint8_t {
    landing,  ///< The sender writes them into the receiver's landing area.
    pulled,   ///< The receiver reads them in the buffer of the sender, where they stay.
    pushed,   ///< The sender writes them to their place in the buffer of the receiver.
  };
  Of of = Of::landing;
  Buffer buffer = Buffer::input;  ///< At the peer: their source if they are pulled, their place if they are pushed.
  std::int64_t at = 0;
};
using Deliveries = std::vector<Delivery>;  ///< By step.

/// The commands of a plan on devices whose messages all stay in one node, in an order that keeps its dependencies:
/// what can be done without waiting comes first. A kernel that makes what several peers want writes it to all of them.
/// Without `deliveries` all messages land. Throws Error if messages to ranks of other nodes are among them.
[[nodiscard]] Program program_of(const shm::SharedPlan& plan, const Deliveries& deliveries = {});

/// The programs of all ranks, each of which reaches the buffers of the others, as many messages as can be pulled or
/// pushed (direct.cpp). No rank leaves its program before all have left its buffers alone.
[[nodiscard]] std::vector<Program> direct_programs(std::span<const shm::SharedPlan> plans);

/// The program of a plan whose input and output are apart, for a call in place, whose input and output begin at one
/// address. Nothing: a command would read what another has written over. Messages lie in landing areas, so most
/// programs need no other plan in place, and one of joint reductions has fewer kernels.
[[nodiscard]] std::optional<Program> program_in_place(const shm::SharedPlan& plan);

/// Commands of each kind: "2 kernels, 1 copy, 3 waits".
struct Counts {
  int kernels = 0, copies = 0, waits = 0, writes = 0;  ///< The last two: of flags.
};
[[nodiscard]] Counts counts_of(const Program& program);

}  // namespace tutti::stream
