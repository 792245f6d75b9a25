#include "lib/core/transport/shm/links.hpp"

#include <utility>

namespace tutti::shm {

Links::Links(std::shared_ptr<const Segment> segment, std::shared_ptr<const NodeHeap> heap, const Geometry& geometry,
             std::int64_t offset, int ranks, int me)
    : segment_(std::move(segment)),
      heap_(std::move(heap)),
      geometry_(geometry),
      offset_(offset),
      ranks_(ranks),
      me_(me),
      window_(segment_->map(offset, geometry.window_bytes(ranks))),
      pool_(geometry, window_.data() + geometry.pool_at(ranks, me)),
      channels_(static_cast<std::size_t>(ranks)),
      queues_(static_cast<std::size_t>(ranks) * Geometry::message_classes),
      has_buffers_(static_cast<std::size_t>(ranks)),
      has_class_(static_cast<std::size_t>(ranks)) {}

Channel& Links::open(int peer) {
  auto& channel = channels_[static_cast<std::size_t>(peer)];
  if (channel == nullptr) {
    segment_->reserve(offset_ + pair_at(peer), geometry_.late_at());
    channel = std::make_unique<Channel>(geometry_, window_.data() + pair_at(peer), me_ < peer ? 0 : 1,
                                        window_.data() + geometry_.pool_at(ranks_, peer), pool_);
  }
  return *channel;
}

void Links::reserve_class(int peer, int message_class) {
  if (message_class == 0 || has_class_[static_cast<std::size_t>(peer)]) return;
  segment_->reserve(offset_ + pair_at(peer) + geometry_.late_at(), geometry_.late_bytes());
  has_class_[static_cast<std::size_t>(peer)] = true;
}

/// A rank may answer in the buffers that it keeps of its peer: the buffers of both ranks have to be there.
void Links::reserve_buffers(int peer) {
  if (has_buffers_[static_cast<std::size_t>(peer)]) return;
  for (const int rank : {me_, peer})
    if (!has_buffers_[static_cast<std::size_t>(rank)]) {
      segment_->reserve(offset_ + geometry_.pool_at(ranks_, rank), geometry_.pool_bytes());
      has_buffers_[static_cast<std::size_t>(rank)] = true;
    }
}

void Links::collect() {
  for (const auto& channel : channels_)
    if (channel != nullptr) channel->collect();
}

}  // namespace tutti::shm
