#include "tutti/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "lib/core/communicator/runtime.hpp"
#include "lib/core/memory/own_process.hpp"
#include "lib/core/transport/shm/segment/available_memory.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

using shm::NodeHeap;

/// All allocations, each with its heap; no heap: ordinary memory. A heap lives as long as any allocation in it.
class Allocations {
 public:
  static Allocations& get() {
    static Allocations& all = *new Allocations;  // never destroyed: buffers with static storage may be freed later
    return all;
  }

  void* allocate(std::shared_ptr<NodeHeap> heap, std::int64_t bytes) {
    const std::scoped_lock lock{mutex_};
    const auto added = heaps_.emplace(nullptr, heap).first;  // first the step that may fail
    auto node = heaps_.extract(added);
    node.key() = heap != nullptr ? heap->allocate(bytes) : ordinary(bytes);
    return heaps_.insert(std::move(node)).position->first;
  }

  /// Does nothing in a child of a fork: its allocations are its parent's, and a thread that it lacks may hold the lock.
  void deallocate(std::byte* data) {
    if (!process_.is_this()) return;
    std::shared_ptr<NodeHeap> heap;
    {
      const std::scoped_lock lock{mutex_};
      const auto found = heaps_.find(data);
      if (found == heaps_.end())
        throw ArgumentError(
            fmt::format("tutti::deallocate: {}; allowed: what tutti::allocate gave", static_cast<void*>(data)));
      heap = std::move(found->second);
      heaps_.erase(found);
    }
    if (heap != nullptr)
      heap->deallocate(data);
    else
      ::operator delete(data, page);
  }

 private:
  static constexpr std::align_val_t page{shm::usual_page};
  static std::byte* ordinary(std::int64_t bytes) {
    // Allocating may succeed and writing then end the process: look at the available memory before.
    void* const data = bytes <= shm::available_memory()
                           ? ::operator new(static_cast<std::size_t>(bytes), page, std::nothrow)
                           : nullptr;
    if (data == nullptr) throw Error(fmt::format("tutti::allocate: no memory for {} bytes", bytes));
    return static_cast<std::byte*>(std::memset(data, 0, static_cast<std::size_t>(bytes)));
  }

  OwnProcess process_;
  std::mutex mutex_;
  std::map<std::byte*, std::shared_ptr<NodeHeap>> heaps_;
};

}  // namespace

void* allocate(Bytes bytes) {
  if (bytes < Bytes{0})
    throw ArgumentError(fmt::format("tutti::allocate: {} bytes; allowed: 0 or more", bytes.value()));
  const auto heap = detail::Runtime::get().heap();
  return Allocations::get().allocate(heap, std::max<std::int64_t>(1, bytes.value()));
}

void deallocate(void* data) {
  if (data != nullptr) Allocations::get().deallocate(static_cast<std::byte*>(data));
}

}  // namespace tutti
