#include "lib/device/driver/scoped_device.hpp"

#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::cuda::detail {

bool enter_context_of(int device) noexcept {
  auto* const wanted = Devices::get().context_of(device);
  CUcontext current = nullptr;
  if (wanted == nullptr || (driver()->CtxGetCurrent(&current) == CUDA_SUCCESS && current == wanted)) return false;
  return Devices::get().find(device) != nullptr && driver()->CtxPushCurrent(wanted) == CUDA_SUCCESS;
}

void leave_context() noexcept {
  CUcontext ours = nullptr;
  static_cast<void>(driver()->CtxPopCurrent(&ours));
}

}  // namespace tutti::cuda::detail
