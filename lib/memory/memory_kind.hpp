#pragma once
// The kind of memory that a pointer leads to, told before anything dereferences it.

#include <string>
#include <string_view>

namespace tutti {

enum class MemoryKind {
  host,
  pinned,   ///< the host's, registered with CUDA
  managed,  ///< CUDA moves it between the host and the devices
  device,   ///< on a GPU: the host cannot read it
};

struct Memory {
  MemoryKind kind = MemoryKind::host;
  int device = -1;  ///< the ordinal of the GPU, for MemoryKind::device alone
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// Null, and any pointer that CUDA does not know, is the host's. Costs a few nanoseconds where there is no GPU.
[[nodiscard]] Memory memory_of(const void* data);

[[nodiscard]] constexpr bool is_readable_by_host(const Memory& memory) { return memory.kind != MemoryKind::device; }

[[nodiscard]] std::string_view to_string(MemoryKind kind);
/// For people: "CUDA device memory (device 1)".
[[nodiscard]] std::string to_string(const Memory& memory);

}  // namespace tutti
