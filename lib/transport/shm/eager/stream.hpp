#pragma once
// Which slots a message travels through.

#include <cstdint>

namespace tutti::shm {

/// How the slots of a stream of messages are reused. Both ends know it of every message before it is sent.
enum class Way : std::uint8_t {
  /// The slot in which a message arrived is the one in which a later one leaves: its lines are in the own cache, and
  /// nobody need say that it is free. For operations with equally many messages each way, at most swap_slots.
  swap,
  /// A ring for each direction, whose reader gives credits back. For everything else.
  ring,
};

/// Messages of one lane, way and direction arrive in the order in which they were sent.
struct Stream {
  int lane = 0;
  Way way = Way::ring;
  int slot = 0;  ///< Of swap: the how many-th message of its operation it is, each way. Every operation begins with 0.
};

}  // namespace tutti::shm
