#pragma once
// The bounce buffers of one rank: it writes the pieces of its messages there, and its peers read them there.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/core/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// Counts the readers of each buffer: every message that names it, and an execution that keeps it as it is for later
/// sends. A buffer is free when it has no reader.
class BouncePool {
 public:
  /// `memory`: geometry.pool_bytes().
  BouncePool(const Geometry& geometry, std::byte* memory)
      : stride_(geometry.buffer_stride()),
        memory_(memory),
        readers_(static_cast<std::size_t>(geometry.buffers)),
        is_shared_(readers_.size()) {
    free_.reserve(readers_.size());
    for (int buffer = geometry.buffers - 1; buffer >= 0; --buffer)
      free_.push_back(static_cast<std::uint8_t>(buffer));
  }

  /// A free buffer, which then has one reader; -1: there is none. The one freed last comes first: it may be in a cache.
  [[nodiscard]] int take() {
    if (free_.empty()) return -1;
    const int buffer = free_.back();
    free_.pop_back();
    readers_[index(buffer)] = 1;
    return buffer;
  }
  /// A buffer for a piece with several readers, of which few may be on their way (tuning.shared_buffers); -1: there is
  /// none.
  [[nodiscard]] int take_shared() {
    if (shared_ == tuning.shared_buffers) return -1;
    const int buffer = take();
    if (buffer < 0) return -1;
    ++shared_;
    is_shared_[index(buffer)] = true;
    return buffer;
  }
  void add_reader(int buffer) { ++readers_[index(buffer)]; }
  void drop_reader(int buffer) {
    if (--readers_[index(buffer)] > 0) return;
    free_.push_back(static_cast<std::uint8_t>(buffer));
    if (!is_shared_[index(buffer)]) return;
    is_shared_[index(buffer)] = false;
    --shared_;
  }
  [[nodiscard]] int readers(int buffer) const { return readers_[index(buffer)]; }
  [[nodiscard]] std::size_t free() const { return free_.size(); }
  [[nodiscard]] std::byte* at(int buffer) const { return memory_ + buffer * stride_; }

 private:
  static std::size_t index(int buffer) { return static_cast<std::size_t>(buffer); }

  std::int64_t stride_;
  std::byte* memory_;
  std::vector<int> readers_;
  std::vector<bool> is_shared_;
  std::vector<std::uint8_t> free_;
  int shared_ = 0;
};

}  // namespace tutti::shm
