#pragma once
// Telling memory of a GPU from the host's, before anything dereferences it.

namespace tutti {

/// Whether `data` points to memory that the host cannot read. Costs a few nanoseconds where there is no GPU.
[[nodiscard]] bool is_device_memory(const void* data);

}  // namespace tutti
