#include "lib/transport/shm/segment/links.hpp"

#include <utility>

namespace tutti::shm {

Links::Links(std::shared_ptr<const Segment> segment, std::shared_ptr<const NodeHeap> heap,
             std::shared_ptr<const SingleCopy> single_copy, const Geometry& geometry, std::int64_t offset, int ranks,
             int me)
    : segment_(std::move(segment)),
      heap_(std::move(heap)),
      single_copy_(std::move(single_copy)),
      geometry_(geometry),
      offset_(offset),
      ranks_(ranks),
      me_(me),
      window_(segment_->map(offset, geometry.window_bytes(ranks))),
      publisher_(geometry, window_.data() + geometry.published_at(ranks, me)),
      channels_(static_cast<std::size_t>(ranks)),
      queues_(static_cast<std::size_t>(ranks)),
      has_areas_(static_cast<std::size_t>(ranks)) {}

Channel& Links::open(int peer) {
  auto& channel = channels_[static_cast<std::size_t>(peer)];
  if (channel == nullptr) {
    segment_->reserve(offset_ + pair_at(peer), geometry_.control_bytes());
    channel = std::make_unique<Channel>(geometry_, window_.data() + pair_at(peer), me_ < peer ? 0 : 1,
                                        window_.data() + geometry_.published_at(ranks_, peer), publisher_);
  }
  return *channel;
}

void Links::reserve_areas(int peer) {
  if (has_areas_[static_cast<std::size_t>(peer)]) return;
  segment_->reserve(offset_ + pair_at(peer) + geometry_.area_at(0), geometry_.areas() * geometry_.area_stride());
  may_read(peer, single_copy_ != nullptr && single_copy_->probe(peer).grants());
  has_areas_[static_cast<std::size_t>(peer)] = true;
}

void Links::reserve_published() {
  if (has_published_) return;
  segment_->reserve(offset_ + geometry_.published_at(ranks_, me_), geometry_.published * geometry_.area_stride());
  has_published_ = true;
}

void Links::collect() {
  for (const auto& channel : channels_)
    if (channel != nullptr) channel->collect();
}

}  // namespace tutti::shm
