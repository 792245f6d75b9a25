#pragma once
// The kind of memory that a pointer leads to, told before anything dereferences it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti {

enum class MemoryKind {
  host,
  pinned,   ///< the host's, registered with CUDA; not what is registered on the stack or in the heap
  managed,  ///< CUDA moves it between the host and the devices
  device,   ///< on a GPU: the host cannot read it
};

struct Memory {
  MemoryKind kind = MemoryKind::host;
  int device = -1;  ///< the ordinal of the GPU, for MemoryKind::device alone
  friend bool operator==(const Memory&, const Memory&) = default;
};

/// The allocation that a pointer leads into. All but `memory` is for memory of a device alone.
struct Allocation {
  Memory memory{};
  void* context = nullptr;  ///< CUDA's; nullptr: memory of a pool, or mapped page by page, belongs to none.
  std::uint64_t id = 0;     ///< The allocation's: no other one of this process ever has it.
  const std::byte* begin = nullptr;
  const std::byte* end = nullptr;  ///< Behind its last byte.
};

/// Null, and any pointer that CUDA does not know, is the host's. Asks the CUDA driver only if the program has loaded
/// it, and not about the stack and the heap. Throws Error if the driver has lost the device.
[[nodiscard]] Allocation allocation_of(const void* data);
[[nodiscard]] inline Memory memory_of(const void* data) { return allocation_of(data).memory; }

namespace detail {
inline std::atomic<bool> driver_was_seen{false};
}
/// Whether allocation_of() has seen that the program uses a CUDA driver. False: all memory so far was the host's.
[[nodiscard]] inline bool may_have_devices() { return detail::driver_was_seen.load(std::memory_order_relaxed); }

/// Whether an address is on this thread's stack, or in the part of the heap that grows by brk, in some nanoseconds: no
/// memory of a device can be there. False: nobody knows.
[[nodiscard]] bool is_on_stack_or_heap(const void* data) noexcept;

/// Whether this process may read the byte at an address, asked of the system: half a microsecond. True if the system
/// does not tell.
[[nodiscard]] bool is_readable(const void* data) noexcept;

[[nodiscard]] constexpr bool is_readable_by_host(const Memory& memory) { return memory.kind != MemoryKind::device; }

/// Why buffers on a device are refused by this build; empty: they are not.
[[nodiscard]] std::string_view why_no_device_buffers();

[[nodiscard]] std::string_view to_string(MemoryKind kind);
/// For people: "CUDA device memory (device 1)".
[[nodiscard]] std::string to_string(const Memory& memory);

}  // namespace tutti
