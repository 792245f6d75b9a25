#pragma once
// The shared memory between one rank and the others of its node, for one context.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lib/transport/shm/eager/bounce_pool.hpp"
#include "lib/transport/shm/eager/channel.hpp"
#include "lib/transport/shm/eager/cold_buffers.hpp"
#include "lib/transport/shm/rendezvous/single_copy.hpp"
#include "lib/transport/shm/segment/node_heap.hpp"
#include "lib/transport/shm/segment/segment.hpp"

namespace tutti::shm {

/// The channels of a context, opened when they are first needed. They stay as they are when a communicator gives the
/// context back, for the next one: both ends go on counting where they were.
class Links {
 public:
  /// `me` of `ranks`, whose windows begin at `offset` of the segment. Maps the window; reserves nothing.
  /// `heap`, `single_copy`: nullptr if there is none.
  Links(std::shared_ptr<const Segment> segment, std::shared_ptr<const NodeHeap> heap,
        std::shared_ptr<const SingleCopy> single_copy, const Geometry& geometry, std::int64_t offset, int ranks,
        int me);

  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// The channel to `peer`. Throws Error if there is no memory for it.
  [[nodiscard]] Channel& open(int peer);
  /// Makes sure that there is memory for messages of a line that are part of no collective. Throws Error.
  void reserve_line(int peer, int line);
  /// Makes sure that there is memory for messages larger than Geometry::cell_bytes to and from `peer`, and asks the
  /// system whether their data may be read where they are. Throws Error.
  void reserve_buffers(int peer);

  /// Memory that all ranks map; nullptr: none.
  [[nodiscard]] const NodeHeap* heap() const { return heap_.get(); }
  /// This rank's bounce buffers.
  [[nodiscard]] BouncePool& pool() { return pool_; }
  /// Writes to buffers of the pool that others gave back.
  [[nodiscard]] ColdBuffers& cold_buffers() { return cold_buffers_; }
  /// Takes in the buffers that others gave back.
  void collect();

  // Messages that are read in the memory of their sender; with reserve_buffers().
  /// Whether the system lets `peer` read this rank's memory, as far as it has said.
  [[nodiscard]] bool may_be_read_by(int peer) const {
    return access_word(peer, me_ < peer ? 1 : 0).load(std::memory_order_relaxed) != 0;
  }
  /// Tells `peer` whether this rank may read its memory.
  void may_read(int peer, bool may) const {
    access_word(peer, me_ < peer ? 0 : 1).store(may ? 1 : 0, std::memory_order_relaxed);
  }
  /// Ends all reading of this rank's memory: the data that it exposed are no longer there.
  void hide() const {
    if (single_copy_ != nullptr) single_copy_->hide();
  }
  /// Whether this rank can read any.
  [[nodiscard]] bool reads() const { return single_copy_ != nullptr; }
  /// Reads data that `peer` exposed, if this rank can.
  [[nodiscard]] SingleCopy::Outcome read(int peer, std::uint64_t from, std::byte* into, std::int64_t bytes) const {
    return single_copy_->read(peer, from, into, bytes);
  }

  // The order of messages that are part of no collective: a message gets its number when its operation starts, and is
  // sent, or received, when all before it are.
  struct Queue {
    std::uint64_t numbered = 0, done = 0;
  };
  struct Queues {
    Queue sends, recvs;
  };
  [[nodiscard]] Queues& queues(int peer, int line) {
    return queues_[static_cast<std::size_t>(peer) * Geometry::message_lines + static_cast<std::size_t>(line)];
  }
  /// Another communicator has the context: it counts from 0.
  void begin_anew() { std::ranges::fill(queues_, Queues{}); }

 private:
  [[nodiscard]] std::int64_t pair_at(int peer) const {
    return geometry_.pair_at(std::min(me_, peer), std::max(me_, peer));
  }

  [[nodiscard]] std::atomic<std::uint64_t>& access_word(int peer, int side) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(window_.data() + pair_at(peer) + geometry_.access_at(side));
  }

  std::shared_ptr<const Segment> segment_;
  std::shared_ptr<const NodeHeap> heap_;
  std::shared_ptr<const SingleCopy> single_copy_;
  Geometry geometry_;
  std::int64_t offset_;
  int ranks_, me_;
  Mapping window_;
  BouncePool pool_;
  ColdBuffers cold_buffers_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Queues> queues_;                ///< By peer and line.
  std::vector<bool> has_buffers_, has_line_;  ///< By peer.
};

}  // namespace tutti::shm
