#include "lib/device/ipc/exchange.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>

#include "lib/device/driver/pending_waits.hpp"
#include "lib/device/ipc/ipc_port.hpp"
#include "lib/device/ipc/tuning.hpp"
#include "lib/device/staging/device_port.hpp"

namespace tutti::ipc {

Exchange* Exchange::first = nullptr;

Exchange::Exchange(const shm::Fabric& fabric) : next(first), table_(fabric.export_table()), flags_(fabric.heap()) {
  first = this;
}

Exchange::~Exchange() {
  imports_.close_all();
  OwnedMemory::get().leave(*this);
  Exchange** link = &first;
  while (*link != this)
    link = &(*link)->next;
  *link = next;
}

ExportedAddress Exchange::lend(const Allocation& allocation, const std::byte* data, CUcontext context) {
  return exports_.lend(allocation, data, context, OwnedMemory::get().owns(allocation.begin));
}

OwnedMemory& OwnedMemory::get() {
  static OwnedMemory& all = *new OwnedMemory;  // never destroyed: buffers with static storage may be freed later
  return all;
}

std::byte* OwnedMemory::allocate(int device, std::int64_t bytes) {
  ipc::collect();
  std::byte* data = device::allocate_on(device, bytes);
  if (data == nullptr && !leaving_.empty()) {
    collect_until([this] { return leaving_.empty(); });
    data = device::allocate_on(device, bytes);
  }
  if (data != nullptr) devices_.insert_or_assign(data, device);
  return data;
}

bool OwnedMemory::free(std::byte* data) noexcept {
  const auto found = devices_.find(data);
  if (found == devices_.end()) return false;
  Leaving memory{.data = data, .device = found->second};
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
  if (leaving_.empty() || cuda::StreamWaits::any_possible()) return;
  std::erase_if(leaving_, [this](const Leaving& memory) {
    if (!is_free(memory)) return false;
    for (const auto& [exchange, place] : memory.places)
      exchange->exports().forget(place);
    if (!memory.is_lost) device::free_on(memory.device, memory.data);
    return true;
  });
}

/// Waits for peers, which may wait for this rank to close its own mappings; not for ever.
template <class IsOver>
void OwnedMemory::collect_until(const IsOver& is_over) noexcept {
  const auto end = std::chrono::steady_clock::now() + tuning.wait_for_peers;
  while (!is_over() && std::chrono::steady_clock::now() < end) {
    ipc::collect();
    sched_yield();
  }
}

void OwnedMemory::leave(Exchange& exchange) noexcept {
  const auto is_in_it = [&](const Leaving& memory) {
    return std::ranges::any_of(memory.places, [&](const auto& at) { return at.first == &exchange; });
  };
  collect_until([&] { return std::ranges::none_of(leaving_, is_in_it); });
  // Memory that a peer still has is never freed: the driver does it when the process ends.
  for (Leaving& memory : leaving_)
    memory.is_lost |= is_in_it(memory);
  for (Leaving& memory : leaving_)
    std::erase_if(memory.places, [&](const auto& at) { return at.first == &exchange; });
  collect();
}

std::byte* allocate_on(int device, std::int64_t bytes) { return OwnedMemory::get().allocate(device, bytes); }
void free_on(int /*device*/, std::byte* data) noexcept { OwnedMemory::get().free(data); }
bool is_owners_process() noexcept { return OwnedMemory::get().is_this_process(); }
bool free_owned(std::byte* data) noexcept { return OwnedMemory::get().free(data); }

void collect() noexcept {
  if (Exchange::first == nullptr || cuda::StreamWaits::any_possible()) return;
  for (Exchange* exchange = Exchange::first; exchange != nullptr; exchange = exchange->next)
    exchange->imports().collect();
  OwnedMemory::get().collect();
}

}  // namespace tutti::ipc
