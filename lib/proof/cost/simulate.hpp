#pragma once
// How long a collective takes on ranks that send one message at a time and receive one message at a time.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti {

/// The times of messages between nodes, in microseconds.
struct RatesBetween {
  double message = 0;  ///< Alpha: each message that has a link for itself, of any size.
  double sent = 0;     ///< Beta: each element of this message.
  int links = 1;       ///< So many messages a node can send, and receive, each at full speed.
};

/// The times of messages and computations, in microseconds.
struct Rates {
  double message = 0;      ///< Alpha: each message inside a node, of any size.
  double sent = 0;         ///< Beta: each element of this message.
  double reduced = 0;      ///< Gamma: each result of a reduction.
  double copied = 0;       ///< Delta: each element copied.
  RatesBetween between{};  ///< Used only if ranks are on several nodes.
};

/// Two times, in microseconds after the ranks started.
struct Interval {
  double begin = 0, end = 0;
};

struct JoinedSchedules;

struct Simulation {
  double time = 0;                             ///< When the last rank is done.
  std::vector<std::vector<Interval>> steps{};  ///< By rank and step. That of a message is the same at both ends.
};

/// Simulates the schedules of all ranks: one-ported, full duplex.
///
/// - A rank transfers at most one message to, and one message from, others at a time. A message is ready when all that
///   its send and its receive wait for is complete; it then takes `message` + count * `sent`, on both ranks alike.
/// - A message between nodes takes `between.message` + count * `between.sent` if it has a link for itself at both ends.
///   Where more messages leave a node, or enter it, than it has links, they share them equally for as long as that
///   lasts; a message is as fast as the smaller of its two shares.
/// - A rank reduces or copies one thing at a time, beside its messages. The reduction that is part of a receive
///   follows the message.
/// - The task that is ready first starts first as soon as its ports are free; ties by the sender's rank, then step.
///
/// With Rates{.message = 1} the time is the number of one-port rounds. Schedules are added one by one and kept in a
/// compact form, so that thousands of ranks can be simulated: near-linear in steps and edges. Times are whole
/// picoseconds, so equal sums are equal times. Errors: std::logic_error if messages do not match or ranks wait for each
/// other, which proved schedules do not, if `nodes` has not one for each rank, and if there are less than 1 links.
class Simulator {
 public:
  /// `nodes`: the node that each rank is on, from 0 on; empty: all are on one.
  explicit Simulator(std::span<const int> nodes = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;
  /// The schedule of the next rank, from rank 0 on.
  void add(const Schedule& schedule);
  /// Simulates the schedules that were added. `steps` is left empty unless `with_steps`.
  [[nodiscard]] Simulation run(const Rates& rates, bool with_steps = false) const;

 private:
  std::unique_ptr<JoinedSchedules> joined_;
};

}  // namespace tutti
