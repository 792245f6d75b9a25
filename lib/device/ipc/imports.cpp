#include "lib/device/ipc/imports.hpp"

#include <exception>
#include <iterator>
#include <utility>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/context.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/pending_waits.hpp"
#include "lib/device/ipc/tuning.hpp"
#include "tutti/error.hpp"

namespace tutti::ipc {

Imports::Found Imports::find(int owner, const ExportedAddress& address, int device) {
  const Key key{owner, address.number, device};
  Import& import = imports_[key];
  if (import.generation != address.generation) {
    if (import.held > 0) return {};  // of an operation that has failed
    close(key, import);
    import.generation = address.generation;
    begin(key, import);
  } else if (import.overlaps) {
    if (cuda::StreamWaits::any_possible())
      wait_for_closing(import);
    else
      begin(key, import);
  } else if (import.state == State::coming) {
    receive(key, import);
  }
  return {import.state, import.mapping.address + static_cast<CUdeviceptr>(address.offset)};
}

void Imports::begin(const Key& key, Import& import) {
  const shm::Export& shared = table_->at(std::get<0>(key), std::get<1>(key));
  if (is_withdrawn(key, import)) {  // its owner has failed meanwhile
    import.state = State::refused;
    return;
  }
  const Handle handle{.means = static_cast<Means>(shared.means), .bytes = shared.handle, .in_block = shared.in_block};
  if (handle.means == Means::descriptor) return ask_for_descriptor(import, shared);
  finish(key, import, handle);
  if (import.state == State::refused && !import.overlaps && handle.means == Means::fabric_or_descriptor)
    ask_for_descriptor(import, shared);
}

void Imports::ask_for_descriptor(Import& import, const shm::Export& shared) {
  import.state = State::refused;
  try {
    import.connection = shm::connect_to(shared.socket);
    import.state = State::coming;
    import.since = std::chrono::steady_clock::now();
  } catch (const std::exception&) {  // no socket to be had: the data are staged
    import.connection = {};
  }
}

/// The owner sends the descriptor when it next looks; if it cannot, the data are staged.
void Imports::receive(const Key& key, Import& import) {
  try {
    if (std::optional<shm::Descriptor> file = shm::try_receive_file(import.connection))
      return finish(key, import, {.means = Means::descriptor, .descriptor = std::move(*file)});
    if (std::chrono::steady_clock::now() - import.since < tuning.descriptor_patience) return;
  } catch (const Error&) {  // no descriptors left, or the owner has closed the connection
  }
  import.connection = {};
  import.state = State::refused;
}

void Imports::finish(const Key& key, Import& import, const Handle& handle) {
  const auto& [owner, place, device] = key;
  import.connection = {};
  import.state = State::refused;
  const cuda::ScopedContext scope{cuda::Devices::get().at(device).context()};
  CUdevice ordinal = 0;
  cuda::check(cuda::driver()->CtxGetDevice(&ordinal), "cuCtxGetDevice");
  const auto try_to_map = [&] { return map(handle, table_->at(owner, place).bytes, ordinal, import.mapping); };
  CUresult result = try_to_map();
  if (result == CUDA_ERROR_ALREADY_MAPPED && !cuda::StreamWaits::any_possible()) {
    ++import.held;
    collect();
    --import.held;
    result = try_to_map();
  }
  if (result == CUDA_ERROR_ALREADY_MAPPED) return wait_for_closing(import);
  import.overlaps = false;
  if (result != CUDA_SUCCESS) return;
  import.state = State::mapped;
  table_->mapped(owner, table_->me(), place).fetch_add(1, std::memory_order_release);
}

/// While an operation waits in a stream, which will be over. Of one in a graph nobody knows when: its data are staged
/// until then.
void Imports::wait_for_closing(Import& import) {
  const auto now = std::chrono::steady_clock::now();
  if (!std::exchange(import.overlaps, true)) import.since = now;
  const bool may_wait = now - import.since < tuning.closing_patience;
  import.state = cuda::StreamWaits::any_pending() && may_wait ? State::coming : State::refused;
}

/// To close a mapping may wait for the device, in which a stream may wait for this thread.
void Imports::close(const Key& key, Import& import) noexcept {
  if (import.state == State::mapped) closing_.push_back({key, import.mapping});
  import = Import{};
  if (!cuda::StreamWaits::any_possible()) finish_closing();
}

/// The device may be gone, and the mapping with it.
void Imports::finish_closing() noexcept {
  for (const auto& [key, mapping] : closing_) {
    const auto& [owner, place, device] = key;
    if (const cuda::Device* const its = cuda::Devices::get().find(device); its != nullptr)
      if (const cuda::ScopedContext scope{its->context(), std::nothrow}; scope.is_current()) unmap(mapping);
    table_->mapped(owner, table_->me(), place).fetch_sub(1, std::memory_order_release);
  }
  closing_.clear();
}

void Imports::collect() noexcept {
  finish_closing();
  for (int owner = 0; owner < table_->ranks(); ++owner) {
    const auto first = imports_.lower_bound({owner, 0, 0});
    if (first == imports_.end() || std::get<0>(first->first) != owner) continue;
    const std::uint32_t now = table_->withdrawn(owner).load(std::memory_order_acquire);
    std::uint32_t& seen = seen_[static_cast<std::size_t>(owner)];
    if (seen == now) continue;
    bool all = true;
    for (auto next = first; next != imports_.end() && std::get<0>(next->first) == owner;) {
      const auto import = next++;
      if (!is_withdrawn(import->first, import->second)) continue;
      all &= import->second.held == 0;
      if (import->second.held > 0) continue;
      close(import->first, import->second);
      imports_.erase(import);
    }
    if (all) seen = now;
  }
}

void Imports::close_all() noexcept {
  for (auto& [key, import] : imports_)
    close(key, import);
  imports_.clear();
  finish_closing();
}

}  // namespace tutti::ipc
