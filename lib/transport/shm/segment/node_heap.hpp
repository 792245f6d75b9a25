#pragma once
// Tutti memory: programs allocate it so that the other ranks of the node read and write their data in place.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "lib/transport/shm/segment/arena.hpp"
#include "lib/transport/shm/segment/geometry.hpp"
#include "lib/transport/shm/segment/segment.hpp"

namespace tutti::shm {

/// One heap of a node, mapped as a whole by each of its ranks, so that an offset tells all of them the same place. A
/// rank allocates from a part of its own. Threads may allocate at the same time.
class NodeHeap {
 public:
  /// Address space of a rank's part, which costs nothing before it is allocated.
  static std::int64_t bytes_of_each(int ranks);

  /// `me` of `ranks`, whose parts begin at `offset` of the segment. Throws Error if it cannot be mapped.
  NodeHeap(std::shared_ptr<const Segment> segment, std::int64_t offset, int ranks, int me);

  /// Begins at a page; all zero. Throws Error if there is not as much memory.
  [[nodiscard]] std::byte* allocate(std::int64_t bytes);
  /// Frees memory that allocate() returned.
  void deallocate(std::byte* data);

  /// Where in the heap `bytes` bytes from `data` on are; -1: not in it.
  [[nodiscard]] std::int64_t offset_of(const std::byte* data, std::int64_t bytes) const {
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(data) - reinterpret_cast<std::uintptr_t>(all_.data());
    const auto size = static_cast<std::uintptr_t>(all_.bytes());
    return at < size && size - at >= static_cast<std::uintptr_t>(bytes) ? static_cast<std::int64_t>(at) : -1;
  }
  [[nodiscard]] std::byte* at(std::int64_t offset) const { return all_.data() + offset; }
  /// Whether `bytes` bytes from there on are in the part of rank `owner`.
  [[nodiscard]] bool is_of(int owner, std::int64_t offset, std::int64_t bytes) const {
    const auto size = static_cast<std::uint64_t>(arena_.bytes());
    const std::uint64_t at = static_cast<std::uint64_t>(offset) - static_cast<std::uint64_t>(owner) * size;
    return at < size && size - at >= static_cast<std::uint64_t>(bytes);
  }

 private:
  std::shared_ptr<const Segment> segment_;
  std::int64_t offset_, mine_;  ///< Of the heap in the segment; of this rank's part in the heap.
  Mapping all_;
  std::mutex mutex_;
  Arena arena_;
};

}  // namespace tutti::shm
