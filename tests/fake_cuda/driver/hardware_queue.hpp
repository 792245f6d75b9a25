#pragma once
// The order in which operations reach a device that has one hardware queue (CUDA_DEVICE_MAX_CONNECTIONS=1).

#include <cstdint>
#include <map>
#include <set>

#include "tests/fake_cuda/driver/operation.hpp"

namespace fake_cuda {

/// The operations of all streams of a context go through its queue in the order of their issue. An operation leaves it
/// when it starts, but one that waits only when it is over: what was issued later stays behind it, in whatever stream.
/// Without the setting there is no queue. Callers hold the lock of the streams.
class HardwareQueues {
 public:
  void issue(const Context* context, Operation& operation);
  [[nodiscard]] bool is_first(const Context* context, const Operation& operation) const;
  /// Whether others may have become the first.
  bool start(const Context* context, const Operation& operation);
  void end(const Context* context, const Operation& operation);

 private:
  std::map<const Context*, std::set<std::uint64_t>> queues_;  ///< What has not left them.
  std::uint64_t issued_ = 0;
};

}  // namespace fake_cuda
