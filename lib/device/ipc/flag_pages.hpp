#pragma once
// Memory of the host, shared by the ranks of a node, whose words streams write and wait for.

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "lib/core/transport/shm/segment/node_heap.hpp"

namespace tutti::ipc {

/// Pages stay as long as the heap: a peer that leaves a communicator later may still refer to them. All words are 0
/// whenever no program runs, so that the next communicator of the same context goes on with them.
class FlagPages {
 public:
  /// `heap`: nullptr if the ranks of the node have none.
  explicit FlagPages(std::shared_ptr<shm::NodeHeap> heap) : heap_(std::move(heap)) {}
  FlagPages(const FlagPages&) = delete;
  FlagPages& operator=(const FlagPages&) = delete;
  ~FlagPages();

  [[nodiscard]] bool is_there() const { return heap_ != nullptr; }
  /// Where in the heap this rank's words are, so many bytes, for the communicator that has a context. Throws Error if
  /// there is no memory.
  [[nodiscard]] std::int64_t own(int context, std::int64_t bytes);
  /// The address for streams of the device of words at that place of the heap. Registers them at first: throws
  /// DeviceError.
  [[nodiscard]] CUdeviceptr address_of(std::int64_t at, std::int64_t bytes, int device);

 private:
  struct Registered {
    int device;
    CUdeviceptr address;
  };
  std::shared_ptr<shm::NodeHeap> heap_;
  std::map<std::pair<int, std::int64_t>, std::byte*> own_{};  ///< By context and bytes.
  std::map<std::int64_t, Registered> registered_{};           ///< By place.
};

}  // namespace tutti::ipc
