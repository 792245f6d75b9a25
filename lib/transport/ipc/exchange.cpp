#include "lib/transport/ipc/exchange.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/transport/ipc/ipc_port.hpp"
#include "lib/transport/ipc/owned_memory.hpp"

namespace tutti::ipc {
namespace {

std::vector<Exchange*>& exchanges() {
  static std::vector<Exchange*>& all = *new std::vector<Exchange*>;
  return all;
}

}  // namespace

Exchange::Exchange(shm::ExportTable table) : table_(std::move(table)) { exchanges().push_back(this); }

Exchange::~Exchange() {
  imports_.close_all();
  OwnedMemory::get().leave(*this);
  std::erase(exchanges(), this);
}

std::span<Exchange* const> Exchange::all() { return exchanges(); }

std::shared_ptr<Exchange> make_exchange(shm::ExportTable table) { return std::make_shared<Exchange>(std::move(table)); }

std::byte* allocate_on(int device, std::int64_t bytes) { return OwnedMemory::get().allocate(device, bytes); }
void free_on(int /*device*/, std::byte* data) noexcept { OwnedMemory::get().free(data); }

void collect() noexcept {
  for (Exchange* const exchange : Exchange::all())
    exchange->imports().collect();
  if (!Exchange::all().empty()) OwnedMemory::get().collect();
}

}  // namespace tutti::ipc
