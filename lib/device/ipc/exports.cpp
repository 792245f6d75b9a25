#include "lib/device/ipc/exports.hpp"

#include <algorithm>
#include <utility>

#include "lib/device/driver/context.hpp"
#include "lib/device/driver/device_error.hpp"

namespace tutti::ipc {

ExportedAddress Exports::lend(const Allocation& allocation, const std::byte* data, CUcontext context, bool is_owned) {
  const int number = number_of(allocation, context, is_owned);
  if (number < 0) return {};
  Mine& mine = mine_[static_cast<std::size_t>(number)];
  mine.used = ++uses_;
  ++mine.lent;
  return {number, mine.generation, data - allocation.begin};
}

void Exports::give_back(const ExportedAddress& address) {
  if (address.is_there()) --mine_[static_cast<std::size_t>(address.number)].lent;
}

int Exports::number_of(const Allocation& allocation, CUcontext context, bool is_owned) try {
  if (allocation.id == 0) return -1;
  const auto found = std::ranges::find(mine_, allocation.id, &Mine::id);
  if (found != mine_.end()) return static_cast<int>(found - mine_.begin());
  const cuda::ScopedContext scope{context};
  Handle handle = handle_of(allocation);
  if (handle.means == Means::none) return -1;
  if (!is_reserved_) table_->reserve();
  is_reserved_ = true;
  withdraw_stale();
  const int number = free_number();
  if (number < 0) return -1;
  mine_[static_cast<std::size_t>(number)].is_owned = is_owned;
  publish(number, allocation, std::move(handle));
  return number;
} catch (const DeviceError&) {
  throw;
} catch (const Error&) {  // no memory for the table, no descriptors: the data are staged
  return -1;
}

/// The program may have freed allocations, of which nobody hears.
void Exports::withdraw_stale() {
  for (int number = 0; number < shm::ExportTable::places; ++number) {
    const Mine& mine = mine_[static_cast<std::size_t>(number)];
    if (mine.id == 0 || mine.lent > 0 || allocation_of(mine.begin).id == mine.id) continue;
    withdraw(number);
    forget(number);
  }
}

int Exports::free_number() {
  int oldest = -1;
  for (int number = 0; number < shm::ExportTable::places; ++number) {
    const Mine& mine = mine_[static_cast<std::size_t>(number)];
    if (mine.is_leaving || mine.lent > 0) continue;
    if (mine.id == 0) return number;
    if (mine.is_owned) continue;  // it must not be freed before it is closed, which is known by its place
    if (oldest < 0 || mine.used < mine_[static_cast<std::size_t>(oldest)].used) oldest = number;
  }
  if (oldest < 0) return -1;
  withdraw(oldest);
  forget(oldest);
  return oldest;
}

void Exports::publish(int number, const Allocation& allocation, Handle handle) {
  Mine& mine = mine_[static_cast<std::size_t>(number)];
  shm::Export& shared = table_->at(table_->me(), number);
  shared.means = static_cast<std::uint32_t>(handle.means);
  shared.bytes = allocation.end - allocation.begin;
  shared.in_block = handle.in_block;
  shared.handle = handle.bytes;
  if (handle.means == Means::descriptor || handle.means == Means::fabric_or_descriptor) {
    shared.socket = shm::random_nonce();
    mine.listener = shm::listen_under(shared.socket, table_->ranks());
    mine.descriptor = std::move(handle.descriptor);
  }
  mine.id = allocation.id;
  mine.begin = allocation.begin;
  if (++mine.generation == 0) ++mine.generation;
  shared.generation.store(mine.generation, std::memory_order_release);
}

void Exports::serve() {
  constexpr int polls_a_look = 16;  // a system call each
  if (++polls_ % polls_a_look != 0) return;
  for (Mine& mine : mine_)
    try {
      if (mine.lent > 0 && mine.listener.get() >= 0) shm::send_to_waiting(mine.listener, mine.descriptor.get());
    } catch (const Error&) {  // a peer has gone away
    }
}

int Exports::find(const std::byte* begin) const {
  const auto found = std::ranges::find_if(mine_, [&](const Mine& mine) { return mine.id != 0 && mine.begin == begin; });
  return found == mine_.end() ? -1 : static_cast<int>(found - mine_.begin());
}

void Exports::withdraw(int number) {
  Mine& mine = mine_[static_cast<std::size_t>(number)];
  mine.id = 0;
  mine.is_leaving = true;
  mine.descriptor = {};
  mine.listener = {};
  table_->at(table_->me(), number).generation.store(0, std::memory_order_release);
  table_->withdrawn(table_->me()).fetch_add(1, std::memory_order_release);
}

bool Exports::is_mapped(int number) const {
  for (int peer = 0; peer < table_->ranks(); ++peer)
    if (table_->mapped(table_->me(), peer, number).load(std::memory_order_acquire) != 0) return true;
  return false;
}

}  // namespace tutti::ipc
