#pragma once
// Tutti memory: programs allocate it so that the other ranks of the node read and write their data in place.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/core/transport/shm/segment/arena.hpp"
#include "lib/core/transport/shm/segment/geometry.hpp"
#include "lib/core/transport/shm/segment/segment.hpp"

namespace tutti::shm {

/// One heap of a node, mapped as a whole by each of its ranks, so that an offset tells all of them the same place. A
/// rank allocates from a part of its own. Threads may allocate at the same time.
/// A process that neither allocates nor receives from those that do maps nothing: terabytes of address space would
/// exceed the limits of batch systems. The process may access only those parts of the mapping in which memory was
/// allocated: mlockall() takes no more.
class NodeHeap {
 public:
  /// Address space of a rank's part, which costs nothing before it is allocated.
  static std::int64_t bytes_of_each(int ranks);

  /// `me` of `ranks`, whose parts begin at `offset` of the segment. Throws Error if it could not be mapped now.
  NodeHeap(std::shared_ptr<const Segment> segment, std::int64_t offset, int ranks, int me);

  /// Begins at a page; all zero. Throws Error if there is not as much memory.
  [[nodiscard]] std::byte* allocate(std::int64_t bytes);
  /// Frees memory that allocate() returned.
  void deallocate(std::byte* data);

  /// Where in the heap `bytes` bytes from `data` on are; -1: not in it.
  [[nodiscard]] std::int64_t offset_of(const std::byte* data, std::int64_t bytes) const {
    const std::byte* const begin = begin_.load(std::memory_order_acquire);
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(data) - reinterpret_cast<std::uintptr_t>(begin);
    const auto size = begin == nullptr ? 0 : static_cast<std::uintptr_t>(all_bytes());
    return at < size && size - at >= static_cast<std::uintptr_t>(bytes) ? static_cast<std::int64_t>(at) : -1;
  }
  /// Where `bytes` bytes are, all in one part. Throws Error if the heap cannot be mapped any more.
  [[nodiscard]] std::byte* at(std::int64_t offset, std::int64_t bytes) const {
    const Part& part = parts_[static_cast<std::size_t>(offset / arena_.bytes())];
    if (offset % arena_.bytes() + bytes > part.open_to.load(std::memory_order_acquire)) open(offset, bytes);
    return begin_.load(std::memory_order_relaxed) + offset;
  }
  /// Whether `bytes` bytes from there on are in the part of rank `owner`.
  [[nodiscard]] bool is_of(int owner, std::int64_t offset, std::int64_t bytes) const {
    const auto size = static_cast<std::uint64_t>(arena_.bytes());
    const std::uint64_t at = static_cast<std::uint64_t>(offset) - static_cast<std::uint64_t>(owner) * size;
    return at < size && size - at >= static_cast<std::uint64_t>(bytes);
  }

 private:
  /// The part of a rank, of which this process may access the first `open_to` bytes.
  struct Part {
    std::atomic<std::int64_t> open_to{0};
  };
  [[nodiscard]] std::int64_t all_bytes() const { return static_cast<std::int64_t>(parts_.size()) * arena_.bytes(); }
  void open(std::int64_t offset, std::int64_t bytes) const;
  void map() const;

  std::shared_ptr<const Segment> segment_;
  std::int64_t offset_, mine_;  ///< Where the heap is in the segment; where this rank's part is in the heap.
  std::mutex mutex_;            ///< Guards the arena.
  Arena arena_;
  mutable std::mutex opening_;  ///< Guards the mapping.
  mutable Mapping all_;
  mutable std::atomic<std::byte*> begin_{nullptr};  ///< Where the mapping begins; nullptr: there is none.
  mutable std::vector<Part> parts_;
};

}  // namespace tutti::shm
