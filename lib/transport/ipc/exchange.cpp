#include "lib/transport/ipc/exchange.hpp"

#include <utility>

#include "lib/cuda/pending_waits.hpp"
#include "lib/transport/ipc/ipc_port.hpp"
#include "lib/transport/ipc/owned_memory.hpp"

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
