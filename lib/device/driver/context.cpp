#include "lib/device/driver/context.hpp"

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {

ScopedContext::ScopedContext(CUcontext context) : is_current_(true) {
  check(driver()->CtxPushCurrent(context), "cuCtxPushCurrent");
}

ScopedContext::ScopedContext(CUcontext context, std::nothrow_t) noexcept
    : is_current_(driver()->CtxPushCurrent(context) == CUDA_SUCCESS) {}

ScopedContext::~ScopedContext() {
  if (!is_current_) return;
  CUcontext ours = nullptr;
  static_cast<void>(driver()->CtxPopCurrent(&ours));
}

}  // namespace tutti::cuda
