#include "lib/cuda/devices.hpp"
#include "lib/cuda/executor.hpp"
#include "lib/runtime/run.hpp"

namespace tutti::detail {

std::unique_ptr<Run> device_run(const Route& route, const shm::SharedPlan& plan) {
  return std::make_unique<RunOn<cuda::DeviceExecutor>>(
      route, plan, cuda::DeviceExecutor{plan, cuda::Devices::get().at(plan.staging.device)});
}

}  // namespace tutti::detail
