#include "lib/transport/ipc/owned_memory.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/transport/device/device_port.hpp"
#include "lib/transport/ipc/exchange.hpp"
#include "lib/transport/ipc/tuning.hpp"

namespace tutti::ipc {

OwnedMemory& OwnedMemory::get() {
  static OwnedMemory& all = *new OwnedMemory;  // never destroyed: buffers with static storage may be freed later
  return all;
}

std::byte* OwnedMemory::allocate(int device, std::int64_t bytes) {
  collect();
  std::byte* data = device::allocate_on(device, bytes);
  if (data == nullptr && !leaving_.empty()) {
    collect_for(tuning.wait_for_peers.count());
    data = device::allocate_on(device, bytes);
  }
  if (data != nullptr) devices_.emplace(data, device);
  return data;
}

bool OwnedMemory::free(std::byte* data) noexcept {
  const auto found = devices_.find(data);
  if (found == devices_.end()) return false;
  Leaving memory{data, found->second, {}};
  devices_.erase(found);
  for (Exchange* exchange = Exchange::first; exchange != nullptr; exchange = exchange->next)
    if (const int place = exchange->exports().find(data); place >= 0) {
      exchange->exports().withdraw(place);
      memory.places.emplace_back(exchange, place);
    }
  leaving_.push_back(std::move(memory));
  collect();
  return true;
}

bool OwnedMemory::is_free(const Leaving& memory) const {
  return std::ranges::none_of(memory.places, [](const auto& at) { return at.first->exports().is_mapped(at.second); });
}

void OwnedMemory::collect() noexcept {
  std::erase_if(leaving_, [this](const Leaving& memory) {
    if (!is_free(memory)) return false;
    for (const auto& [exchange, place] : memory.places)
      exchange->exports().forget(place);
    device::free_on(memory.device, memory.data);
    return true;
  });
}

void OwnedMemory::collect_for(std::int64_t milliseconds) noexcept {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{milliseconds};
  while (!leaving_.empty() && std::chrono::steady_clock::now() < end) {
    collect();
    sched_yield();
  }
}

void OwnedMemory::leave(Exchange& exchange) noexcept {
  collect_for(tuning.wait_for_peers.count());
  // What a peer still has is never freed: the driver does it when the process ends.
  std::erase_if(leaving_, [&](const Leaving& memory) {
    return std::ranges::any_of(memory.places, [&](const auto& at) { return at.first == &exchange; });
  });
}

}  // namespace tutti::ipc
