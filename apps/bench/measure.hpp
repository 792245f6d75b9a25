#pragma once
// How time is measured, and what calls need beside it.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/bench/buffers.hpp"
#include "apps/bench/records.hpp"

namespace tutti::bench {

/// A round is a number of calls back to back after a barrier; its time, divided by the calls, is that of the slowest
/// rank. Ways to be compared take turns, round by round, and the one that went first goes second in the next round: a
/// disturbance that lasts for a while then affects both.
struct Protocol {
  int rounds;
  int warmup_rounds;  ///< Before those that count.
  int calls;          ///< In a round; 0: calls_per_round() of a first measurement, for each way.
  /// Whether inputs are rewritten before each call. Each call is then timed alone, which adds the cost of reading the
  /// clock to it. Where rewriting takes long, ranks meet in a barrier after it, so that no rank's rewriting is counted
  /// as another rank's waiting; where it is short, the barrier would disturb more than it helps.
  enum class Touching { no, briefly, for_long } touching;
  /// How calls follow each other. Ranks that need not wait for all others (the root of a broadcast) would run ahead of
  /// them by many calls, and the time would show how many calls a rank can have under way, not how long one takes:
  /// there, ranks meet in a barrier of MPI's before each call, and it is timed alone, as OSU's benchmarks do.
  enum class Pace { back_to_back, after_barriers } pace;
  std::span<std::byte> touched;  ///< This rank's input, empty on ranks that have none.
  const BenchMemory* memory;
  MPI_Comm comm = MPI_COMM_WORLD;  ///< The ranks that measure.
  double seconds = 4e-3;           ///< About so long a round is, if its calls are not given.
  int attempts = 3;  ///< First measurements, of which the quickest counts: a pause of the process makes any call long.
};
inline constexpr std::int64_t barrier_from_touched_bytes = 32 * 1024;

/// Calls that make up a round of so long: enough that the clock and the barrier around the round do not count, yet
/// never more than `most_calls`.
inline constexpr double round_seconds = 4e-3;
[[nodiscard]] int calls_per_round(double seconds_per_call, double seconds = round_seconds);
inline constexpr int most_calls = 100'000;

/// Untimed calls at the start of a round of `calls`: they bring back into the caches the data that the other side of a
/// comparison has displaced. None where a call is so long that the caches do not matter.
[[nodiscard]] constexpr int calls_before_round(int calls) { return calls / 8; }

/// How the settings want a call to be measured.
[[nodiscard]] Protocol protocol_of(const BenchCollective& collective, const Settings& settings, const Buffers& buffers,
                                   const Call& call);

struct Timing {
  int calls;
  std::vector<double> seconds;  ///< Per call, of each round. On rank 0 that of the slowest rank.
  [[nodiscard]] std::vector<double> microseconds() const;
};

/// Collective over the protocol's communicator. One Timing for each way, in their order.
[[nodiscard]] std::vector<Timing> measure(std::span<Repeater* const> ways, const Protocol& protocol);

// ---- What calls on memory of devices need beside time

/// The least bytes that a call has this rank read and write, on all devices together: each input is read once, each
/// output written once, and what is in its place already is neither.
[[nodiscard]] std::int64_t least_traffic(const BenchCollective& collective, const Call& call);

/// Collective over `comm`. Makes some calls more, and counts what they need.
[[nodiscard]] DeviceWork work_of(const BenchCollective& collective, const Call& call, Repeater& ours,
                                 const Communicator& comm);

}  // namespace tutti::bench
