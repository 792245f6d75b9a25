#include "lib/transport/shm/eager/piece_sharing.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::shm {

PieceSharing::PieceSharing(Links& links, const SharedPlan& plan)
    : links_(&links), groups_(static_cast<std::size_t>(plan.groups)) {
  links.reserve_published();
  for (const SideStep& side : plan.sides)
    if (side.group >= 0) ++groups_[static_cast<std::size_t>(side.group)].sends;
  for (Sharers& sharers : groups_)
    sharers.kept.reserve(static_cast<std::size_t>(links.geometry().published));
}

void PieceSharing::begin() {
  for (Sharers& sharers : groups_)
    sharers.left = sharers.sends;
}

int PieceSharing::publish(int group, std::int64_t offset, const std::byte* data, std::size_t bytes) {
  Sharers& sharers = groups_[static_cast<std::size_t>(group)];
  Publisher& publisher = links_->publisher();
  const auto found = std::ranges::find(sharers.kept, offset, &Kept::offset);
  int area = found != sharers.kept.end() ? found->area : -1;
  if (area < 0) {
    area = free_area(sharers);
    if (area < 0) return -1;
    std::memcpy(publisher.area(area) + phase_of(data), data, bytes);
    publisher.read_by_one_more(area);  // this execution
    sharers.kept.push_back({offset, area});
  }
  publisher.read_by_one_more(area);
  return area;
}

/// One that nobody reads; if need be one that was kept but that all who got it have read.
int PieceSharing::free_area(Sharers& sharers) {
  Publisher& publisher = links_->publisher();
  int area = publisher.find_free();
  if (area >= 0) return area;
  links_->collect();
  area = publisher.find_free();
  if (area >= 0) return area;
  const auto oldest =
      std::ranges::find_if(sharers.kept, [&](const Kept& kept) { return publisher.readers(kept.area) == 1; });
  if (oldest == sharers.kept.end()) return -1;
  area = oldest->area;
  sharers.kept.erase(oldest);
  publisher.read_by_one_less(area);
  return area;
}

void PieceSharing::completed(int group) {
  Sharers& sharers = groups_[static_cast<std::size_t>(group)];
  if (--sharers.left == 0) release(sharers);
}

void PieceSharing::release(Sharers& sharers) noexcept {
  for (const Kept& kept : sharers.kept)
    links_->publisher().read_by_one_less(kept.area);
  sharers.kept.clear();
}

void PieceSharing::abandon() noexcept {
  for (Sharers& sharers : groups_)
    release(sharers);
}

}  // namespace tutti::shm
