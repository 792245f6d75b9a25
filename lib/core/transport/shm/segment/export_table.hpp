#pragma once
// The allocations on devices that the ranks of a node let each other map. Knows nothing of CUDA.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "lib/core/transport/shm/segment/descriptor_passing.hpp"
#include "lib/core/transport/shm/segment/segment.hpp"

namespace tutti::shm {

/// An allocation of the owner's. Its content is written before the generation, and stays while any message refers to
/// it.
struct Export {
  /// The number of the allocation in this entry of the table, one more for each. 0: nobody may map it, any more or yet.
  std::atomic<std::uint32_t> generation;
  std::uint32_t means;           ///< How it is mapped.
  std::int64_t bytes, in_block;  ///< The latter as ipc::Handle has it.
  std::array<std::byte, 64> handle;
  Nonce socket;  ///< Under which the owner listens, if the means takes a file descriptor.
};

/// Every rank owns as many places, and its peers say of each whether they have mapped it.
class ExportTable {
 public:
  static constexpr int places = 64;

  static std::int64_t shared_bytes(int ranks) { return ranks * rank_bytes(ranks); }

  /// `me` of `ranks`, whose part of the segment begins at `offset`. Throws Error if it cannot be mapped.
  ExportTable(std::shared_ptr<const Segment> segment, std::int64_t offset, int ranks, int me);

  /// Makes sure that there is memory for this rank's places. Before it gives any to others. Throws Error.
  void reserve() const;

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int me() const { return me_; }
  [[nodiscard]] Export& at(int owner, int place) const {
    return *reinterpret_cast<Export*>(part(owner) + line_bytes + place * std::int64_t{sizeof(Export)});
  }
  using Word = std::atomic<std::uint32_t>;
  /// How often the owner withdrew an allocation: its peers then look for those that they have mapped.
  [[nodiscard]] Word& withdrawn(int owner) const { return *reinterpret_cast<Word*>(part(owner)); }
  /// How many mappings a peer has of what is, or was, in a place.
  [[nodiscard]] Word& mapped(int owner, int peer, int place) const {
    const std::int64_t number = std::int64_t{peer} * places + place;
    return *reinterpret_cast<Word*>(part(owner) + line_bytes + places * std::int64_t{sizeof(Export)} +
                                    number * std::int64_t{sizeof(Word)});
  }

 private:
  static std::int64_t rank_bytes(int ranks);
  [[nodiscard]] std::byte* part(int owner) const { return all_.data() + owner * rank_bytes(ranks_); }
  static constexpr std::int64_t line_bytes = 64;

  std::shared_ptr<const Segment> segment_;
  std::int64_t offset_;
  int ranks_, me_;
  Mapping all_;
};

}  // namespace tutti::shm
