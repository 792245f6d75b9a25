#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/executor.hpp"
#include "lib/watch/traced_run.hpp"

namespace tutti::detail {

std::unique_ptr<Run> device_run(const Routes& route, const shm::SharedPlan& plan, trace::Subject* call) {
  cuda::DeviceExecutor worker{plan, cuda::Devices::get().at(plan.staging.device)};
  if (call != nullptr)
    return std::make_unique<TracedRunOn<cuda::DeviceExecutor>>(route, plan, std::move(worker), *call);
  return std::make_unique<RunOn<cuda::DeviceExecutor>>(route, plan, std::move(worker));
}

}  // namespace tutti::detail
