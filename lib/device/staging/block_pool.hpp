#pragma once
// Memory that runs of staged plans borrow from their communicator, which keeps it for the next ones.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/device/driver/pending_waits.hpp"
#include "lib/device/staging/device_port.hpp"
#include "lib/device/staging/tuning.hpp"

namespace tutti::device {

/// Where borrowed memory is.
enum class Residence : std::uint8_t { pinned, device };

/// A piece of it; none if there are no bytes.
struct Block {
  std::byte* data = nullptr;
  std::byte* on_device = nullptr;  ///< The address for kernels.
  std::int64_t bytes = 0;
  int device = -1;
  Residence residence = Residence::pinned;
  bool is_in_order = false;  ///< Memory of the device that was made while a stream waited. Peers do not map it.
};

/// While a stream of this process waits for other ranks, nothing is freed, registered or allocated, which may wait for
/// the device: new blocks are then allocated in the order of a stream, and of pinned memory there are those in reserve.
/// A call takes the smallest block that is large enough. Smaller ones make room for a new block, so that the pool holds
/// no more than the calls that were under way at once. Not thread-safe.
class BlockPool {
 public:
  /// Memory on devices is freed in ways that only its owner knows: others may have it mapped.
  struct OnDevices {
    std::byte* (*allocate)(int device, std::int64_t bytes) = allocate_on;
    void (*free)(int device, std::byte* data) noexcept = free_on;
  };
  explicit BlockPool(OnDevices on_devices) : on_devices_(on_devices) {}
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool() { clear(); }

  /// A block of at least so many bytes for a device. No data: there is no memory, not even after all unused blocks were
  /// freed. Throws Error if the driver fails.
  [[nodiscard]] Block take(Residence residence, int device, std::int64_t bytes) {
    Block block{.bytes = rounded(bytes), .device = device, .residence = residence};
    if (bytes == 0) return block;
    const auto found = first_from(block);
    if (found != unused_.end() && has_kind_of(block, *found)) {
      block = *found;
      unused_.erase(found);
      return block;
    }
    if (cuda::StreamWaits::any_pending()) {
      block.is_in_order = residence == Residence::device;
      if (block.is_in_order) block.data = block.on_device = allocate_in_order(block.device, block.bytes);
      return block;
    }
    const bool keeps_all = cuda::StreamWaits::any_possible();
    std::erase_if(unused_, [&](const Block& smaller) {
      if (keeps_all || !has_kind_of(block, smaller)) return false;
      free(smaller);
      return true;
    });
    allocate(block);
    if (block.data != nullptr) return block;
    clear();
    allocate(block);
    return block;
  }
  /// Whether there will be pinned memory of so many bytes once other calls have given theirs back.
  [[nodiscard]] bool is_in_reserve(std::int64_t bytes) const { return has_reserve_ && bytes <= reserve[0].bytes; }
  /// Pinned memory for calls while a stream waits; at first, and when other calls have taken it. Throws Error.
  void make_reserve(int device) {
    if (cuda::StreamWaits::any_pending()) return;
    has_reserve_ = true;
    for (const Reserve& each : reserve) {
      Block block{.bytes = each.bytes, .device = device, .residence = Residence::pinned};
      const auto there = std::ranges::count(unused_, key_of(block), key_of);
      for (auto missing = each.blocks - there; missing > 0; --missing) {
        allocate(block);
        give_back(block);
      }
    }
  }
  void give_back(const Block& block) {
    if (block.data != nullptr) unused_.insert(first_from(block), block);
  }
  void clear() noexcept {
    if (!unused_.empty() && cuda::StreamWaits::any_possible()) return;  // later, or when the process ends
    for (const Block& block : unused_)
      free(block);
    unused_.clear();
  }

 private:
  struct Reserve {
    std::int64_t bytes;
    std::ptrdiff_t blocks;
  };
  static constexpr std::array<Reserve, 3> reserve{
      {{tuning.reserved_long, 2}, {tuning.reserved_middle, 8}, {tuning.reserved_short, 32}}};
  using Unused = std::vector<Block>;  // no map, which would allocate for every call
  static bool has_kind_of(const Block& block, const Block& other) {
    return other.residence == block.residence && other.device == block.device;
  }
  static std::tuple<Residence, int, std::int64_t> key_of(const Block& block) {
    return {block.residence, block.device, block.bytes};
  }
  /// The first that is not before it in their order.
  [[nodiscard]] Unused::iterator first_from(const Block& block) {
    return std::ranges::lower_bound(unused_, key_of(block), {}, key_of);
  }
  static std::int64_t rounded(std::int64_t bytes) {
    constexpr std::uint64_t page = 4096, sizes = 8;
    const std::uint64_t step = std::max(page, std::bit_floor(static_cast<std::uint64_t>(bytes)) / sizes);
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(bytes) + step - 1) / step * step);
  }
  void allocate(Block& block) const {
    if (block.residence == Residence::pinned) {
      const Pinned pinned = allocate_pinned(block.device, block.bytes);
      block.data = pinned.data;
      block.on_device = pinned.on_device;
    } else {
      block.data = block.on_device = on_devices_.allocate(block.device, block.bytes);
    }
  }
  void free(const Block& block) const noexcept {
    if (block.is_in_order) return free_in_order(block.device, block.data);
    if (block.residence == Residence::pinned)
      free_pinned(block.device, block.data, block.bytes);
    else
      on_devices_.free(block.device, block.data);
  }
  OnDevices on_devices_;
  Unused unused_;  ///< In the order of their keys.
  bool has_reserve_ = false;
};

}  // namespace tutti::device
