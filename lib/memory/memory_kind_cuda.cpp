#include <array>

#include "lib/cuda/check.hpp"
#include "lib/cuda/driver.hpp"
#include "lib/memory/memory_kind.hpp"

namespace tutti {

Memory memory_of(const void* data) {
  static const cuda::Driver* const driver = cuda::driver();
  if (driver == nullptr || data == nullptr) return {};
  unsigned type = 0, is_managed = 0;
  int device = -1;
  std::array which{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  std::array<void*, which.size()> values{&type, &is_managed, &device};
  // Of a pointer that CUDA does not know it gives zeros. It fails once the driver has been shut down, and in
  // a child of a fork.
  const CUresult result =
      driver->PointerGetAttributes(which.size(), which.data(), values.data(), reinterpret_cast<CUdeviceptr>(data));
  if (result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED) return {};
  cuda::check(result, "cuPointerGetAttributes");  // an earlier operation may have lost the context
  if (type == 0) return {};
  if (is_managed != 0) return {MemoryKind::managed};
  if (type == CU_MEMORYTYPE_HOST) return {MemoryKind::pinned};
  return {MemoryKind::device, device};
}

}  // namespace tutti
