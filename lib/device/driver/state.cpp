#include "lib/device/driver/state.hpp"

#include <fmt/format.h>

#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {

std::string state() {
  const Driver* const table = driver();
  if (table == nullptr) return why_no_driver();
  int version = 0, devices = 0;
  if (table->DriverGetVersion(&version) != CUDA_SUCCESS || table->DeviceGetCount(&devices) != CUDA_SUCCESS)
    return "the CUDA driver cannot be used";
  return fmt::format("driver {}.{}, {} device{}", version / 1000, version % 1000 / 10, devices,
                     devices == 1 ? "" : "s");
}

}  // namespace tutti::cuda
