#pragma once
// The order in which operations reach a device whose streams share hardware queues.

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "tests/fake_cuda/driver/operation.hpp"

namespace fake_cuda {

/// The operations of all streams that share a queue go through it in the order of their issue. An operation leaves it
/// when it starts, but one that waits only when it is over: what was issued later stays behind it, in whatever stream.
/// Callers hold the lock of the streams.
class HardwareQueues {
 public:
  /// The number of the queue of a new stream: streams of one context and priority get them in turn. 0: the stream has
  /// one of its own, and no operation of it is held back.
  int assign(const Context* context, int priority);
  void issue(int queue, Operation& operation);
  [[nodiscard]] bool is_first(int queue, const Operation& operation) const;
  /// Whether others may have become the first.
  bool start(int queue, const Operation& operation);
  void end(int queue, const Operation& operation);

 private:
  std::map<std::pair<const Context*, int>, int> streams_;  ///< By context and priority: how many there were.
  std::map<std::pair<std::pair<const Context*, int>, int>, int> numbers_;
  std::map<int, std::set<std::uint64_t>> queues_;  ///< What has not left them.
  std::uint64_t issued_ = 0;
};

}  // namespace fake_cuda
