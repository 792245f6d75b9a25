#pragma once
// What a communicator tells of device buffers, if TUTTI_LOG asks for it.

#include <cstdio>

#include "lib/core/communicator/settings.hpp"
#include "lib/core/run/prepared_plan.hpp"

namespace tutti::detail {

class DeviceNotice {
 public:
  explicit DeviceNotice(const Settings& settings) : is_wanted_(settings.log == LogUse::on) {}

  /// How device buffers travel, why, and what would be faster: for the first plan that has any, on rank 0.
  void tell(const PreparedPlan& plan) {
    const bool has_device = plan.compiled().staging.device >= 0 || plan.key().places.has_device();
    if (!is_wanted_ || !has_device || plan.key().problem.rank != Rank{0}) return;
    is_wanted_ = false;
    if (plan.compiled().staging.is_direct) {
      std::fputs(plan.compiled().uses(Transport::ipc)
                     ? "tutti: device buffers: ranks of a node map each other's memory (CUDA IPC), and take data where "
                       "they are. Where that is refused, data are copied by way of the host: counters() has "
                       "device.ipc.refused and device.ipc.staged. docs/gpu.md.\n"
                     : "tutti: device buffers: messages take data where they are on the device. docs/gpu.md.\n",
                 stderr);
      return;
    }
    std::fputs(
        "tutti: device buffers are staged: their data are copied to pinned memory of the host in chunks, and travel "
        "from "
        "there as the data of other buffers do. This works with every MPI, driver and GPU. Host or device reduces, as "
        "TUTTI_STAGING says (auto: the cheaper for each call).\n"
        "tutti: buffers in memory of the host need no such copies and are faster. Plan::explain() tells the way of a "
        "call, Communicator::counters() its copies; docs/gpu.md.\n",
        stderr);
  }

 private:
  bool is_wanted_;
};

}  // namespace tutti::detail
