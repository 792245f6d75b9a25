#include "lib/device/driver/devices.hpp"

#include <fmt/format.h>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/device_error.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {
Devices& Devices::get() {
  static Devices& all = *new Devices;  // never destroyed: the driver may be gone by then
  return all;
}

CUcontext Devices::primary_context(int ordinal) {
  unsigned flags = 0;
  int is_active = 0;
  check(driver()->DevicePrimaryCtxGetState(ordinal, &flags, &is_active), "cuDevicePrimaryCtxGetState");
  if (is_active == 0)
    throw DeviceError(
        fmt::format("memory of device {} belongs to no context, and the device has no primary one", ordinal));
  unsigned long long id = 0;
  const auto known = primaries_.find(ordinal);
  if (known != primaries_.end() && driver()->CtxGetId(known->second.context, &id) == CUDA_SUCCESS &&
      id == known->second.id)
    return known->second.context;
  CUcontext context = nullptr;
  check(driver()->DevicePrimaryCtxRetain(&context, ordinal), "cuDevicePrimaryCtxRetain");
  check(driver()->CtxGetId(context, &id), "cuCtxGetId");
  primaries_[ordinal] = {context, id};
  return context;
}

int Devices::number_of(CUcontext context, int ordinal) {
  if (driver() == nullptr) throw DeviceError(why_no_driver());
  const std::scoped_lock lock{mutex_};
  if (context == nullptr) context = primary_context(ordinal);
  unsigned long long id = 0;
  check(driver()->CtxGetId(context, &id), "cuCtxGetId");
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (known_[i].context == context && known_[i].id == id) return static_cast<int>(i);
  known_.push_back({context, id, std::make_unique<Device>(context)});
  return static_cast<int>(known_.size() - 1);
}

}  // namespace tutti::cuda
