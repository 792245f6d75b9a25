#include "lib/cuda/scoped_device.hpp"

#include "lib/cuda/devices.hpp"
#include "lib/cuda/driver.hpp"

namespace tutti::cuda::detail {

bool enter_context_of(int device) noexcept {
  const Device* const its = Devices::get().find(device);
  return its != nullptr && driver()->CtxPushCurrent(its->context()) == CUDA_SUCCESS;
}

void leave_context() noexcept {
  CUcontext ours = nullptr;
  static_cast<void>(driver()->CtxPopCurrent(&ours));
}

}  // namespace tutti::cuda::detail
