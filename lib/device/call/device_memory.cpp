#include "tutti/device_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "lib/core/communicator/runtime.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/device/ipc/ipc_port.hpp"
#include "tutti/error.hpp"

namespace tutti {

void* allocate_device(Bytes bytes) {
  if (bytes < Bytes{0})
    throw ArgumentError(fmt::format("tutti::allocate_device: {} bytes; allowed: 0 or more", bytes.value()));
  const detail::Progress::Entry entry{detail::Runtime::get().progress()};
  std::byte* const data = ipc::allocate_on(device::current_device(), std::max<std::int64_t>(1, bytes.value()));
  if (data == nullptr)
    throw Error(fmt::format("tutti::allocate_device: the device has no {} bytes of memory left", bytes.value()));
  return data;
}

void deallocate_device(void* data) {
  int is_finalized = 0;
  mpi::api.Finalized(&is_finalized);
  if (data == nullptr || is_finalized != 0 || !ipc::is_owners_process()) return;
  const detail::Progress::Entry entry{detail::Runtime::get().progress()};
  if (!ipc::free_owned(static_cast<std::byte*>(data)))
    throw ArgumentError(
        fmt::format("tutti::deallocate_device: {}; allowed: what tutti::allocate_device gave", fmt::ptr(data)));
}

namespace detail {

void free_device_buffer(void* data) noexcept try {
  deallocate_device(data);
} catch (const std::exception&) {  // this thread may not call: the memory stays until the process ends
}

}  // namespace detail
}  // namespace tutti
