#pragma once
// Areas of one rank that several others read: one copy for all of them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// Counts the readers of this rank's published areas. Every reader of an area gets a message of its own that names it,
/// and gives it back; the area is free again when all have.
class Publisher {
 public:
  /// `areas` is memory of geometry.published areas.
  Publisher(const Geometry& geometry, std::byte* areas)
      : stride_(geometry.area_stride()), areas_(areas), readers_(static_cast<std::size_t>(geometry.published)) {}

  /// One without readers; -1: none. It stays free until read_by_one_more().
  [[nodiscard]] int find_free() const {
    for (std::size_t i = 0; i < readers_.size(); ++i)
      if (readers_[i] == 0) return static_cast<int>(i);
    return -1;
  }
  [[nodiscard]] std::byte* area(int published) const { return areas_ + published * stride_; }
  [[nodiscard]] int readers(int published) const { return readers_[static_cast<std::size_t>(published)]; }
  void read_by_one_more(int published) { ++readers_[static_cast<std::size_t>(published)]; }
  void read_by_one_less(int published) { --readers_[static_cast<std::size_t>(published)]; }

 private:
  std::int64_t stride_;
  std::byte* areas_;
  std::vector<int> readers_;
};

}  // namespace tutti::shm
