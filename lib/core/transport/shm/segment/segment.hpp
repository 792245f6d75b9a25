#pragma once
// Memory that the processes of one node share, without a name that could be left behind.

#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/transport/bootstrap.hpp"
#include "lib/core/transport/shm/segment/shared_file.hpp"

namespace tutti::shm {

/// Memory of a fixed size that all ranks of a node can map; all zero at first, and sparse: it takes
/// memory only where it was written or reserved. It lives as long as a rank holds the segment or a mapping of it.
class Segment {
 public:
  /// Offset in bytes from which on the memory is the user's; the bytes before belong to the segment. A multiple of
  /// every page size up to 64 KiB.
  static constexpr std::int64_t first_free = std::int64_t{64} << 10;

  /// Collective over `node`, whose ranks are said to share memory. `bytes`: the size of the whole, more than
  /// first_free, the same on all ranks; terabytes cost nothing. A failure on a rank is no exception but leaves ranks
  /// out, see reaches(); errors of `node` itself are thrown. Costs a broadcast, an allgather, and for each 64 ranks a
  /// reduction and a barrier.
  Segment(const Bootstrap& node, std::int64_t bytes);

  /// Whether rank `r` of the node is attached to the memory. Same answer on all ranks.
  [[nodiscard]] bool reaches(int r) const { return attached_.at(static_cast<std::size_t>(r)) != 0; }
  /// Whether all are.
  [[nodiscard]] bool reaches_all() const;
  /// Why this rank or others could not attach: of the lowest rank that knows why. The same on all ranks; empty if
  /// all are.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// Maps `bytes` bytes from `offset` on, a multiple of the page size; unmapped when the returned object dies. Does
  /// not reserve. Throws Error, also on a rank that is not attached.
  [[nodiscard]] Mapping map(std::int64_t offset, std::int64_t bytes) const { return file_.map(offset, bytes); }
  /// Maps address space alone, without access, which Mapping::open() gives to parts of it.
  [[nodiscard]] Mapping map_closed(std::int64_t offset, std::int64_t bytes) const {
    return file_.map_closed(offset, bytes);
  }
  /// Makes sure that memory is there for `bytes` bytes from `offset` on, for all ranks, so that running out is an error
  /// here and no signal later. Keeps the contents; may be repeated. Throws Error with the number of bytes and the
  /// reason.
  void reserve(std::int64_t offset, std::int64_t bytes) const { file_.reserve(offset, bytes); }
  /// Gives memory back, whose contents are lost; `offset` and `bytes` in whole pages.
  void release(std::int64_t offset, std::int64_t bytes) const noexcept { file_.release(offset, bytes); }

 private:
  void exchange(const Bootstrap& node, std::string& failure);
  void agree(const Bootstrap& node, const std::string& failure);

  int rank_ = 0, size_ = 0;
  std::int64_t bytes_ = 0;
  SharedFile file_;             // closed unless this rank is attached
  std::vector<char> attached_;  // by rank
  std::string why_not_;
};

}  // namespace tutti::shm
