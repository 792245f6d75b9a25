#include "lib/memory/device_memory.hpp"

namespace tutti {

bool is_device_memory(const void* /*data*/) { return false; }  // built without CUDA

}  // namespace tutti
