#pragma once
// The shared memory between one rank and the others of its node, for one context.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/core/transport/shm/eager/bounce_pool.hpp"
#include "lib/core/transport/shm/eager/channel.hpp"
#include "lib/core/transport/shm/eager/cold_buffers.hpp"
#include "lib/core/transport/shm/segment/node_heap.hpp"
#include "lib/core/transport/shm/segment/segment.hpp"

namespace tutti::shm {

/// The channels of a context, opened when they are first needed. They stay as they are when a communicator gives the
/// context back, for the next one: both ends go on counting where they were.
class Links {
 public:
  /// `me` of `ranks`, whose windows begin at `offset` of the segment. Maps the window; reserves nothing.
  /// `heap`: nullptr if there is none.
  Links(std::shared_ptr<const Segment> segment, std::shared_ptr<const NodeHeap> heap, const Geometry& geometry,
        std::int64_t offset, int ranks, int me);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// The channel to `peer`. Throws Error if there is no memory for it.
  [[nodiscard]] Channel& open(int peer);
  /// Makes sure that there is memory for messages of a class that are part of no collective. Throws Error.
  void reserve_class(int peer, int message_class);
  /// Makes sure that there is memory for messages larger than Geometry::cell_bytes to and from `peer`. Throws Error.
  void reserve_buffers(int peer);

  /// Memory that all ranks map; nullptr: none.
  [[nodiscard]] const NodeHeap* heap() const { return heap_.get(); }
  /// This rank's bounce buffers.
  [[nodiscard]] BouncePool& pool() { return pool_; }
  /// Writes to buffers of the pool that others gave back.
  [[nodiscard]] ColdBuffers& cold_buffers() { return cold_buffers_; }
  /// Takes in the buffers that others gave back.
  void collect();

  // The order of messages that are part of no collective: a message gets its number when its operation starts, and is
  // sent, or received, when all before it are.
  struct Queue {
    std::uint64_t numbered = 0, done = 0;
  };
  struct Queues {
    Queue sends, recvs;
  };
  [[nodiscard]] Queues& queues(int peer, int message_class) {
    return queues_[static_cast<std::size_t>(peer) * Geometry::message_classes +
                   static_cast<std::size_t>(message_class)];
  }
  /// Another communicator has the context: it counts from 0.
  void begin_anew() { std::ranges::fill(queues_, Queues{}); }

 private:
  [[nodiscard]] std::int64_t pair_at(int peer) const {
    return geometry_.pair_at(std::min(me_, peer), std::max(me_, peer));
  }

  std::shared_ptr<const Segment> segment_;
  std::shared_ptr<const NodeHeap> heap_;
  Geometry geometry_;
  std::int64_t offset_;
  int ranks_, me_;
  Mapping window_;
  BouncePool pool_;
  ColdBuffers cold_buffers_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Queues> queues_;                 ///< One for each peer and class.
  std::vector<bool> has_buffers_, has_class_;  ///< One for each peer.
};

}  // namespace tutti::shm
