#pragma once
// What one rank shares with the others of its node, for one context.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/memory/aligned_buffer.hpp"
#include "lib/transport/shm/eager/area_writer.hpp"
#include "lib/transport/shm/eager/channel.hpp"
#include "lib/transport/shm/eager/publisher.hpp"
#include "lib/transport/shm/rendezvous/single_copy.hpp"
#include "lib/transport/shm/rendezvous/wishes.hpp"
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
  /// Makes sure that there is memory for areas too: messages larger than Geometry::inline_bytes; and asks the system
  /// whether their data may be read where they are. Throws Error.
  void reserve_areas(int peer);

  /// Memory that all ranks map; nullptr: none.
  [[nodiscard]] const NodeHeap* heap() const { return heap_.get(); }
  [[nodiscard]] Publisher& publisher() { return publisher_; }
  void reserve_published();
  /// For areas that `peer` gave back, and for published ones.
  [[nodiscard]] AreaWriter& writer(int peer) { return writers_[static_cast<std::size_t>(peer)]; }
  [[nodiscard]] AreaWriter& published_writer() { return published_writer_; }
  /// Takes in what others gave back.
  void collect();

  // Messages that are read in the memory of their sender; with reserve_areas().
  [[nodiscard]] Wishes& wishes(int peer) { return *wishes_[static_cast<std::size_t>(peer)]; }
  /// What this rank exposed is no longer there.
  void hide() const {
    if (single_copy_ != nullptr) single_copy_->hide();
  }
  /// What `peer` exposed.
  [[nodiscard]] SingleCopy::Outcome read(int peer, std::uint64_t from, std::byte* into, std::int64_t bytes) const {
    return single_copy_->read(peer, from, into, bytes);
  }
  /// To where `peer` wants it.
  [[nodiscard]] SingleCopy::Outcome write(int peer, const std::byte* from, std::uint64_t to, std::int64_t bytes) const {
    return single_copy_->write(peer, from, to, bytes);
  }
  /// For what is on its way from one to the other; of no bytes if this rank may write to no peer.
  [[nodiscard]] std::span<std::byte> room() { return {room_.data(), room_.data() == nullptr ? 0 : room_bytes}; }
  /// Whether the process of `peer` has ended. A system call.
  [[nodiscard]] bool is_gone(int peer) const { return single_copy_->is_gone(peer); }

  // The order of messages that are part of no collective: a message gets its number when its operation starts, and is
  // sent, or received, when all before it are.
  struct Queue {
    std::uint64_t numbered = 0, done = 0;
  };
  struct Queues {
    Queue sends, recvs;
  };
  [[nodiscard]] Queues& queues(int peer) { return queues_[static_cast<std::size_t>(peer)]; }

 private:
  [[nodiscard]] std::int64_t pair_at(int peer) const {
    return geometry_.pair_at(std::min(me_, peer), std::max(me_, peer));
  }

  std::shared_ptr<const Segment> segment_;
  std::shared_ptr<const NodeHeap> heap_;
  std::shared_ptr<const SingleCopy> single_copy_;
  Geometry geometry_;
  std::int64_t offset_;
  int ranks_, me_;
  Mapping window_;
  Publisher publisher_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Queues> queues_;
  std::vector<AreaWriter> writers_;
  AreaWriter published_writer_;
  std::vector<std::optional<Wishes>> wishes_;  ///< Of peers with areas.
  bool has_published_ = false;
  static constexpr std::size_t room_bytes = 128 * 1024UL;  // half of what the smallest second-level caches hold
  AlignedBuffer room_;
};

}  // namespace tutti::shm
