#include <dlfcn.h>

#include "lib/cuda/loaded.hpp"
#include "lib/memory/memory_kind.hpp"

namespace tutti {

/// Built without CUDA: knows just enough of the driver to refuse memory of a device, which it could not reach.
Allocation allocation_of(const void* data) {
  constexpr int memory_type = 2, is_managed = 8, device_ordinal = 9, of_device = 2;  // as cuda.h has them
  using Get = int(void*, int, unsigned long long);
  void* const library = data == nullptr ? nullptr : cuda::loaded_library();
  if (library == nullptr) return {};
  detail::driver_was_seen.store(true, std::memory_order_relaxed);
  static auto* const get = reinterpret_cast<Get*>(::dlsym(library, "cuPointerGetAttribute"));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  unsigned type = 0, managed = 0;
  int device = -1;
  if (get == nullptr || get(&type, memory_type, address) != 0 || type != of_device) return {};
  if (get(&managed, is_managed, address) == 0 && managed != 0) return {.memory = {MemoryKind::managed}};
  static_cast<void>(get(&device, device_ordinal, address));
  return {.memory = {MemoryKind::device, device}};
}

std::string_view why_no_device_buffers() { return "the library was built without CUDA"; }

}  // namespace tutti
