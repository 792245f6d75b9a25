#pragma once
// Copies of the size of messages.

#include <cstddef>

namespace tutti {

/// into[i] = from[i] for i < bytes. They do not overlap and may have any alignment; either may be nullptr if bytes is
/// 0. For what is read again soon, by this core or another.
void copy_bytes(void* into, const void* from, std::size_t bytes);

/// The same past the caches, where the processor can (has_streaming_kernels()): for what this core does not read next.
/// Whoever is told afterwards, in release order, sees the bytes.
void copy_bytes_streaming(void* into, const void* from, std::size_t bytes);

}  // namespace tutti
