#pragma once
// Memory that runs of staged plans borrow from their communicator, which keeps it for the next ones.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/transport/device/device_port.hpp"

namespace tutti::device {

/// Where borrowed memory is.
enum class Residence : std::uint8_t { pinned, device };

/// A piece of it; none if there are no bytes.
struct Block {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  int device = -1;
  Residence residence = Residence::pinned;
};

/// Blocks of few sizes, eight between one power of two and the next: calls of like sizes share them. Not thread-safe.
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() { clear(); }

  /// A block of at least so many bytes for a device. No data: there is no memory, not even after all unused blocks were
  /// freed. Throws Error if the driver fails.
  [[nodiscard]] Block take(Residence residence, int device, std::int64_t bytes) {
    Block block{.bytes = rounded(bytes), .device = device, .residence = residence};
    if (bytes == 0) return block;
    std::vector<Block>& unused = unused_[key_of(block)];
    if (!unused.empty()) {
      block = unused.back();
      unused.pop_back();
      return block;
    }
    block.data = allocate(block);
    if (block.data != nullptr) return block;
    clear();
    block.data = allocate(block);
    return block;
  }
  void give_back(const Block& block) {
    if (block.data != nullptr) unused_[key_of(block)].push_back(block);
  }
  void clear() noexcept {
    for (const auto& [key, blocks] : unused_)
      for (const Block& block : blocks)
        free(block);
    unused_.clear();
  }

 private:
  using Key = std::pair<std::pair<Residence, int>, std::int64_t>;
  static Key key_of(const Block& block) { return {{block.residence, block.device}, block.bytes}; }
  static std::int64_t rounded(std::int64_t bytes) {
    constexpr std::uint64_t page = 4096, sizes = 8;
    const std::uint64_t step = std::max(page, std::bit_floor(static_cast<std::uint64_t>(bytes)) / sizes);
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(bytes) + step - 1) / step * step);
  }
  static std::byte* allocate(const Block& block) {
    return block.residence == Residence::pinned ? allocate_pinned(block.device, block.bytes)
                                                : allocate_on(block.device, block.bytes);
  }
  static void free(const Block& block) noexcept {
    if (block.residence == Residence::pinned)
      free_pinned(block.device, block.data, block.bytes);
    else
      free_on(block.device, block.data);
  }
  std::map<Key, std::vector<Block>> unused_;
};

}  // namespace tutti::device
