#include "lib/core/memory/memory_kind.hpp"

#include <array>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/image.hpp"

namespace tutti {
namespace {

/// Memory that the program maps itself may have no number of a buffer: then that of its physical memory, apart from
/// those of buffers. 0: it has none either, or the driver does not know the question.
std::uint64_t number_of_block(const cuda::Driver& driver, const void* data) {
  constexpr std::uint64_t is_block = std::uint64_t{1} << 63U;
  unsigned long long id = 0;
  std::array which{CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID};
  std::array<void*, which.size()> values{&id};
  const CUresult result =
      driver.PointerGetAttributes(which.size(), which.data(), values.data(), reinterpret_cast<CUdeviceptr>(data));
  return result == CUDA_SUCCESS && id != 0 ? id | is_block : 0;
}

}  // namespace

Allocation allocation_of(const void* data) {
  const cuda::Driver* const driver = data == nullptr ? nullptr : cuda::loaded_driver();
  if (driver == nullptr) return {};
  detail::driver_was_seen.store(true, std::memory_order_relaxed);
  if (is_on_stack_or_heap(data)) return {};
  unsigned type = 0, is_managed = 0;
  int device = -1;
  CUcontext context = nullptr;
  unsigned long long id = 0;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  std::array which{CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
                   CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_CONTEXT,
                   CU_POINTER_ATTRIBUTE_BUFFER_ID,      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                   CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  std::array<void*, which.size()> values{&type, &is_managed, &device, &context, &id, &begin, &bytes};
  // For a pointer that CUDA does not know the driver gives zeros. It fails before the program has initialised the
  // driver, once the driver has been shut down, and in a child of a fork.
  const CUresult result =
      driver->PointerGetAttributes(which.size(), which.data(), values.data(), reinterpret_cast<CUdeviceptr>(data));
  if (result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED) return {};
  cuda::check(result, "cuPointerGetAttributes");  // an earlier operation may have lost the context
  if (type == 0) return {};
  if (is_managed != 0) return {.memory = {MemoryKind::managed}};
  if (type == CU_MEMORYTYPE_HOST) return {.memory = {MemoryKind::pinned}};
  if (id == 0) id = number_of_block(*driver, data);
  const auto* const first = reinterpret_cast<const std::byte*>(begin);
  return {{MemoryKind::device, device}, context, id, first, first + bytes};
}

std::string_view why_no_device_buffers() {
  return cuda::image() == nullptr ? "the library was built without nvcc" : "";
}

}  // namespace tutti
