#pragma once
// Why a simulated collective took as long as it did.

#include <array>
#include <string_view>
#include <vector>

#include "simulate.hpp"

namespace tutti::simulator {

/// What a step on the critical path spent its time on.
enum class Part : std::uint8_t {
  overhead,   ///< The processors' work for the message, at both ends.
  handshake,  ///< Of a rendezvous.
  latency,
  transfer,  ///< Its bytes, on links of their own.
  sharing,   ///< What it took longer as others used its links.
  work,      ///< A reduction or a copy.
  waiting,   ///< For a processor, for a gap between messages, or until a late rank starts.
};
inline constexpr std::array<std::string_view, 7> part_names{"overhead", "handshake", "latency", "transfer",
                                                            "sharing",  "work",      "waiting"};
using Parts = std::array<Time, part_names.size()>;

/// A message, known by its receive (its send, where the path goes on from there), or a computation.
struct PathStep {
  int step = 0;
  Time begin = 0, end = 0;
  Parts parts{};
  bool is_start = false;  ///< The late start of the rank whose step this is: nothing happens in it.
};

/// The chain of steps that ended last, each of which was complete when the next one could begin; from the first on. The
/// parts of each add up to its time, and the times to that of the outcome.
[[nodiscard]] std::vector<PathStep> critical_path(const JoinedSchedules& joined, const Machine& machine,
                                                  const Conditions& conditions, const Outcome& outcome);
[[nodiscard]] Parts sum_of(const std::vector<PathStep>& path);

}  // namespace tutti::simulator
