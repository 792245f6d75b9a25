#include "lib/core/transport/shm/segment/node_heap.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "lib/core/transport/shm/segment/available_memory.hpp"

namespace tutti::shm {

std::int64_t NodeHeap::bytes_of_each(int ranks) {
  constexpr std::int64_t most = std::int64_t{256} << 30, of_all = std::int64_t{16} << 40;  // processes address 128 TiB
  return std::min(most, of_all / ranks / largest_page * largest_page);
}

NodeHeap::NodeHeap(std::shared_ptr<const Segment> segment, std::int64_t offset, int ranks, int me)
    : segment_(std::move(segment)),
      offset_(offset),
      mine_(me * bytes_of_each(ranks)),
      arena_(bytes_of_each(ranks), page_bytes()),
      parts_(static_cast<std::size_t>(ranks)) {
  static_cast<void>(segment_->map_closed(offset_, all_bytes()));
}

void NodeHeap::map() const {
  if (all_.data() != nullptr) return;
  all_ = segment_->map_closed(offset_, all_bytes());
  // A dump of a process that crashes would else go through all of the address space.
  static_cast<void>(::madvise(all_.data(), static_cast<std::size_t>(all_.bytes()), MADV_DONTDUMP));
  begin_.store(all_.data(), std::memory_order_release);
}

void NodeHeap::open(std::int64_t offset, std::int64_t bytes) const {
  const std::scoped_lock lock{opening_};
  map();
  std::atomic<std::int64_t>& open_to = parts_[static_cast<std::size_t>(offset / arena_.bytes())].open_to;
  const std::int64_t from = open_to.load(std::memory_order_relaxed), begin = offset / arena_.bytes() * arena_.bytes();
  const std::int64_t to = rounded(offset - begin + bytes, page_bytes());
  if (to <= from) return;
  all_.open(begin + from, to - from);
  open_to.store(to, std::memory_order_release);
}

std::byte* NodeHeap::allocate(std::int64_t bytes) {
  const std::int64_t available = available_memory();
  const std::scoped_lock lock{mutex_};
  const auto part = bytes <= available ? arena_.take(bytes) : std::nullopt;
  if (!part)
    throw Error(fmt::format("Tutti memory: no room for {} bytes: {} bytes of memory are available, {} of address space",
                            bytes, available, arena_.bytes()));
  try {
    segment_->reserve(offset_ + mine_ + part->offset, part->bytes);
    return at(mine_ + part->offset, part->bytes);
  } catch (const Error&) {
    arena_.give_back(part->offset);
    segment_->release(offset_ + mine_ + part->offset, part->bytes);
    throw;
  }
}

void NodeHeap::deallocate(std::byte* data) {
  const std::scoped_lock lock{mutex_};
  const Arena::Part part = arena_.give_back(data - begin_.load() - mine_);
  segment_->release(offset_ + mine_ + part.offset, part.bytes);
}

}  // namespace tutti::shm
