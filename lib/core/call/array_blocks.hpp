#pragma once
// The blocks of a distributed array: how this rank reads its own, and where those of all ranks lie.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/core/call/arguments.hpp"
#include "lib/device/driver/device_error.hpp"
#include "lib/device/staging/tuning.hpp"
#include "tutti/array_reduction.hpp"

namespace tutti::detail {

/// A rank's block, and how its elements are read.
struct Source {
  ArrayBlock block;
  int x_device = -1, y_device = -1;  ///< By number; -1: the host's memory.
  int exponent = 0;                  ///< The factors of products are divided by this power of two.
};

/// The bytes where the host can read them: in `room`, if they are on a device.
[[nodiscard]] const void* fetched(std::vector<std::byte>& room, int device, const void* data, std::int64_t bytes);

/// Calls use(x, y, done, count) for one part of the block after the other, of which `done` elements came before.
template <class Use>
void for_each_part(const CallSite& site, const Source& source, Type type, const Use& use) try {
  const std::int64_t element = size_of(type).value(), all = source.block.count.value();
  const std::int64_t most = source.x_device < 0 && source.y_device < 0 ? all : device::tuning.looked_at_bytes / element;
  std::vector<std::byte> x_room, y_room;
  for (std::int64_t done = 0; done < all; done += most) {
    const std::int64_t count = std::min(most, all - done);
    const auto read = [&](std::vector<std::byte>& room, int device, const void* data) {
      if (data == nullptr) return data;
      return fetched(room, device, static_cast<const std::byte*>(data) + done * element, count * element);
    };
    use(read(x_room, source.x_device, source.block.x), read(y_room, source.y_device, source.block.y), done, count);
  }
} catch (const DeviceError& error) {
  fail_at(site, error);
}

/// Elements begin to end - 1.
struct Cut {
  std::int64_t begin = 0, end = 0;
};
/// The block of each rank. Errors, on all ranks: MismatchError if they call differently, ArgumentError unless the
/// blocks make up an array.
[[nodiscard]] std::vector<Cut> cuts_of(const CallSite& site, const ArrayBlock& block, Type type, const Op& op,
                                       const Communicator& comm);
/// Ranks that have elements, in the order of their blocks. ArgumentError, on all ranks, if these leave gaps or overlap.
[[nodiscard]] std::vector<std::size_t> in_order(const CallSite& site, const std::vector<Cut>& cuts);

}  // namespace tutti::detail
