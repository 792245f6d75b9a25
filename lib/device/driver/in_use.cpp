#include "lib/device/driver/in_use.hpp"

#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {

bool has_context() {
  const Driver* const table = loaded_driver();
  CUcontext current = nullptr;
  int devices = 0;
  if (table == nullptr || table->CtxGetCurrent(&current) != CUDA_SUCCESS) return false;
  if (current != nullptr) return true;
  if (table->DeviceGetCount(&devices) != CUDA_SUCCESS) return false;
  for (int device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int is_active = 0;
    if (table->DevicePrimaryCtxGetState(device, &flags, &is_active) == CUDA_SUCCESS && is_active != 0) return true;
  }
  return false;
}

std::string why_unusable() { return driver() == nullptr ? why_no_driver() : ""; }

}  // namespace tutti::cuda
