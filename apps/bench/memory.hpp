#pragma once
// The kinds of memory that buffers are made of.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "tutti/types.hpp"

namespace tutti::bench {

struct BenchMemory;

/// Gives a buffer back to the memory that it came from.
struct FreeBuffer {
  const BenchMemory* memory = nullptr;
  void operator()(std::byte* data) const noexcept;
};
using Buffer = std::unique_ptr<std::byte, FreeBuffer>;

/// A kind of memory. To add one: an entry in memory.cpp.
struct BenchMemory {
  std::string_view name;
  std::byte* (*allocate)(Bytes size);  ///< nullptr if there is not enough.
  void (*free)(std::byte* data);
  /// Sets all bytes to zero by ordinary stores, so that the data is then as if the program had just computed it.
  void (*rewrite)(std::span<std::byte> data);
  /// To and from the host, which checks values.
  void (*write)(std::byte* data, std::span<const std::byte> from);
  void (*read)(const std::byte* data, std::span<std::byte> into);
  Bytes (*available)();  ///< On this node, for all its ranks together; 0: unknown.
};

[[nodiscard]] std::span<const BenchMemory> memories();

/// Empty if there is not enough memory.
[[nodiscard]] Buffer allocate(const BenchMemory& memory, Bytes size);

}  // namespace tutti::bench
