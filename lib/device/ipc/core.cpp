#include "lib/device/ipc/core.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/pending_waits.hpp"
#include "tutti/error.hpp"

namespace tutti::ipc {
Core::Core(const Route& where, shm::ShmPort by_host, const shm::SharedPlan& what)
    : route(where),
      exchange(exchange_of(*where.fabric, *where.exchange)),
      plan(&what),
      host(std::move(by_host)),
      work(what.steps.size() + what.joints.size()) {}

device::Block Core::take_block(int index) const {
  device::Block block = route.blocks->take(device::Residence::pinned, step(index).device, step(index).bytes);
  if (block.data == nullptr && step(index).bytes > 0 && cuda::StreamWaits::any_pending() &&
      route.blocks->is_in_reserve(step(index).bytes))
    return block;
  if (block.data == nullptr)
    throw Error(fmt::format("no {} bytes of pinned host memory for a message {} rank {}", step(index).bytes,
                            step(index).verb == Verb::send ? "to" : "from", step(index).peer));
  ++route.counters->staged;
  route.counters->staged_bytes += static_cast<std::uint64_t>(step(index).bytes);
  return block;
}

void Core::give_back(device::Block& block) const {
  route.blocks->give_back(block);
  block = {};
}

void Core::copy(int index, const std::byte* from, std::byte* into, CUstream stream) {
  work.post(index, device_of(index), stream, [&] {
    cuda::check(cuda::driver()->MemcpyAsync(std::bit_cast<CUdeviceptr>(into), std::bit_cast<CUdeviceptr>(from),
                                            static_cast<std::size_t>(step(index).bytes), stream),
                "cuMemcpyAsync");
  });
}

}  // namespace tutti::ipc
