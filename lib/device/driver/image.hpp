#pragma once
// The kernels as nvcc built them: a fatbin in the library.

namespace tutti::cuda {

/// nullptr: nvcc was not there when the library was built.
[[nodiscard]] const void* image();

}  // namespace tutti::cuda
