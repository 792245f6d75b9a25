#include "lib/device/ipc/flag_pages.hpp"

#include <new>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/context.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::ipc {

FlagPages::~FlagPages() {
  for (const auto& [at, registered] : registered_)
    if (const cuda::Device* const device = cuda::Devices::get().find(registered.device); device != nullptr)
      if (const cuda::ScopedContext scope{device->context(), std::nothrow}; scope.is_current())
        static_cast<void>(cuda::driver()->MemHostUnregister(heap_->at(at, 1)));
  for (const auto& [key, data] : own_)
    heap_->deallocate(data);
}

std::int64_t FlagPages::own(int context, std::int64_t bytes) {
  const std::pair key{context, bytes};
  auto found = own_.find(key);
  if (found == own_.end()) found = own_.emplace(key, heap_->allocate(bytes)).first;
  return heap_->offset_of(found->second, bytes);
}

CUdeviceptr FlagPages::address_of(std::int64_t at, std::int64_t bytes, int device) {
  const auto known = registered_.find(at);
  if (known != registered_.end() && cuda::Devices::get().find(known->second.device) != nullptr)
    return known->second.address;
  const cuda::ScopedContext scope{cuda::Devices::get().at(device).context()};
  std::byte* const data = heap_->at(at, bytes);
  cuda::check(cuda::driver()->MemHostRegister(data, static_cast<std::size_t>(bytes),
                                              CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP),
              "cuMemHostRegister");
  CUdeviceptr address = 0;
  cuda::check(cuda::driver()->MemHostGetDevicePointer(&address, data, 0), "cuMemHostGetDevicePointer");
  registered_.insert_or_assign(at, Registered{device, address});
  return address;
}

}  // namespace tutti::ipc
