#include "lib/core/transport/shm/piece_sharing.hpp"

#include <algorithm>

namespace tutti::shm {

PieceSharing::PieceSharing(const Route& route, const SharedPlan& plan)
    : route_(&route), groups_(static_cast<std::size_t>(plan.groups)) {
  for (const SideStep& side : plan.sides)
    if (side.group >= 0) ++groups_[static_cast<std::size_t>(side.group)].sends;
  for (Sharers& sharers : groups_)
    sharers.kept.reserve(static_cast<std::size_t>(tuning.shared_buffers));
}

void PieceSharing::begin() {
  for (Sharers& sharers : groups_)
    sharers.left = sharers.sends;
}

int PieceSharing::publish(int group, std::int64_t offset, const std::byte* data, std::size_t bytes) {
  Sharers& sharers = groups_[static_cast<std::size_t>(group)];
  BouncePool& pool = route_->links->pool();
  const auto found = std::ranges::find(sharers.kept, offset, &Kept::offset);
  int buffer = found != sharers.kept.end() ? found->buffer : -1;
  if (buffer < 0) {
    buffer = free_buffer(sharers);
    if (buffer < 0) return -1;
    route_->write_cold(pool.at(buffer) + phase_of(data), data, bytes);
    sharers.kept.push_back({offset, buffer});  // whose first reader is this execution
  }
  pool.add_reader(buffer);
  return buffer;
}

/// A buffer that nobody reads; if there is none, one that was kept but that all its readers have read. -1: none.
int PieceSharing::free_buffer(Sharers& sharers) {
  BouncePool& pool = route_->links->pool();
  int buffer = pool.take_shared();
  if (buffer >= 0) return buffer;
  route_->links->collect();
  buffer = pool.take_shared();
  if (buffer >= 0) return buffer;
  const auto oldest =
      std::ranges::find_if(sharers.kept, [&](const Kept& kept) { return pool.readers(kept.buffer) == 1; });
  if (oldest == sharers.kept.end()) return -1;
  pool.drop_reader(oldest->buffer);
  sharers.kept.erase(oldest);
  return pool.take_shared();
}

void PieceSharing::completed(int group) {
  Sharers& sharers = groups_[static_cast<std::size_t>(group)];
  if (--sharers.left == 0) release(sharers);
}

void PieceSharing::release(Sharers& sharers) noexcept {
  for (const Kept& kept : sharers.kept)
    route_->links->pool().drop_reader(kept.buffer);
  sharers.kept.clear();
}

void PieceSharing::abandon() noexcept {
  for (Sharers& sharers : groups_)
    release(sharers);
}

}  // namespace tutti::shm
