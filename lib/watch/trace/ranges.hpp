#pragma once
// Ranges of NVTX: named stretches of time, which NVIDIA's tools show beside kernels. One of two files is built.

#include <cstdint>

namespace tutti::trace {

/// Whether the library was built with NVTX.
[[nodiscard]] bool has_ranges();

/// A range in the domain "tutti". Ranges may overlap, and another thread may end them. Without a tool in the process
/// this costs a few nanoseconds.
[[nodiscard]] std::uint64_t begin_range(const char* name, std::int64_t bytes);
void end_range(std::uint64_t range);

}  // namespace tutti::trace
