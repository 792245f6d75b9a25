#pragma once
// How long the schedules of all ranks take on a machine.

#include <cstdint>
#include <functional>
#include <vector>

#include "lib/proof/cost/joined_schedules.hpp"
#include "machine.hpp"

namespace tutti::simulator {

/// What is not in the schedules.
struct Conditions {
  std::int64_t element = 4;  ///< Bytes.
  std::vector<Time> late{};  ///< When each rank starts; empty: all at 0.
  /// The latency of each message and the time of each piece of work are longer by a random share, which is distributed
  /// exponentially with this mean.
  double noise = 0;
  std::uint64_t seed = 1;
  /// The shares that messages have of a link they meet on are inversely proportional to their latencies, as those of
  /// TCP are, and SimGrid's; else they are equal.
  bool shares_by_latency = false;
};

/// What happened. Steps have the numbers of the network.
struct Outcome {
  Time time = 0;            ///< When the last step was complete.
  std::vector<Time> end{};  ///< Of each step.
  /// The step of the same rank that each step waited for last; -1: none.
  std::vector<int> cause{};
  /// Of each send: whether its message would have left, or an eager one been taken, earlier if the receive had been
  /// ready earlier.
  std::vector<bool> is_held_by_receive{};
  /// Of each send: picoseconds by which its bytes took longer as others used their links, too.
  std::vector<float> shared{};
  std::vector<double> carried{};   ///< Bytes over each link of the machine.
  double alone = 0, crossing = 0;  ///< The time that all messages would need on links of their own, and did need.

  /// How many times longer messages were on their way than on links of their own; their latency does not count.
  [[nodiscard]] double contention() const { return alone > 0 ? crossing / alone : 1; }
};

/// Simulates the schedules.
///
/// - A step is ready when all that it waits for is complete. A send then takes the rank's processor for `overhead`. If
///   the message has no more than `eager` bytes, its send is complete, and it leaves. Else it leaves `handshake` after
///   its receive is ready, too, and both ends are complete when it is there.
/// - A message arrives after its latency, then its bytes, for which it has its fair share of every link of its way
///   (flows.hpp). Its receive takes the receiver's processor for `overhead`, and for the reduction that is part of it.
/// - A rank's processor does one thing at a time, in the order in which they came up. Work that takes no time does not
///   wait for the processor.
/// - Messages of a rank leave, and arrive, `gap` apart.
///
/// All that happens at one instant is handled in the order of ranks and steps, then links are shared anew. Cost: a few
/// times log(events) for each step, and for each change of shares the flows that it is connected with. Errors:
/// std::logic_error if ranks wait for each other, or if a message has only one end.
///
/// `look` is called every few hundred events: an exception that it throws ends a simulation that takes too long.
[[nodiscard]] Outcome simulate(const JoinedSchedules& joined, const Machine& machine, const Conditions& conditions,
                               const std::function<void()>& look = {});

/// The factor by which the noise makes something longer: `what` tells apart what happens in one step.
enum class Noisy : std::uint8_t { send, recv, latency, work };
[[nodiscard]] double noise_factor(const Conditions& conditions, int step, Noisy what);

/// Microseconds times `count` as picoseconds. Throws std::logic_error if that is more than can be counted.
[[nodiscard]] Time in_time(double microseconds, double count = 1);

}  // namespace tutti::simulator
