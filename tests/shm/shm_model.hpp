#pragma once
// Two ends of a channel, stepped one call at a time through everything that can happen.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/transport/shm/eager/channel.hpp"

namespace tutti::shm::test {

enum class MessageKind : std::uint8_t { in_cell, in_buffer, shared };

constexpr std::size_t most_streams = 3;

/// How many messages of each stream an end has sent and received.
struct Counts {
  std::array<std::uint8_t, most_streams> sent{}, received{};
};

/// The messages that the ends send each other, and their possible orders.
struct Pattern {
  const char* name;
  Geometry geometry;
  std::vector<int> streams;  ///< The lane of each.
  /// The messages of side 0 and of side 1, by stream.
  std::vector<std::vector<MessageKind>> from_0, from_1;
  /// Whether an end may begin the next message of a stream, to send it or to receive it; nullptr: always.
  bool (*may_begin)(const Counts& done, int side, std::size_t stream, bool to_send) = nullptr;
};

/// A fault of an end, to see that it is found.
enum class Mutant : std::uint8_t {
  none,
  never_credits,
  ignores_credits,
  releases_before_reading,
  never_gives_back,
  sends_buffer_again,
  waits_for_buffers,  ///< Where it should go on in cells.
  shares_over,
  writes_after_sending,
};

struct Verdict {
  std::size_t states = 0, finals = 0;
  std::string problem;  ///< Empty: none.
};

/// Visits every state that some interleaving of the calls of the two ends leads to. In each of them no message is
/// lost, overwritten or read twice, every bounce buffer is counted right, and some end can go on until all messages
/// have arrived.
Verdict explore(const Pattern& pattern, Mutant mutant = Mutant::none);

/// One end: its calls so far, and the one that it is about to make.
struct End {
  enum class Phase : std::uint8_t { idle, writing, sending, reading, releasing };
  Channel channel;
  Counts done{};
  std::array<bool, most_streams> may_send{};  ///< The promises of Channel::may_send().
  Phase phase = Phase::idle;
  std::size_t stream = 0;  ///< The stream of the message that is being sent or received.
  Bounce bounce{};         ///< The buffer that is being written.
  Envelope came{};
};

/// A message in a bounce buffer that has been sent and not been released.
struct Flying {
  int from;
  Where where;
  int number;
};

/// All of a state but the memory.
struct Ends {
  std::array<End, 2> end;
  std::array<BouncePool, 2> pool;
  std::vector<Flying> flying;
};

}  // namespace tutti::shm::test
