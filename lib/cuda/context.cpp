#include "lib/cuda/context.hpp"

#include "lib/cuda/check.hpp"
#include "lib/cuda/driver.hpp"

namespace tutti::cuda {

ScopedContext::ScopedContext(CUcontext context) { check(driver()->CtxPushCurrent(context), "cuCtxPushCurrent"); }

ScopedContext::~ScopedContext() {
  CUcontext ours = nullptr;
  static_cast<void>(driver()->CtxPopCurrent(&ours));
}

}  // namespace tutti::cuda
