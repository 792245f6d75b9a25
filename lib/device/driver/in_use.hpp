#pragma once
// Whether the program uses CUDA. Needs no header of CUDA.

#include <string>

namespace tutti::cuda {

/// Whether any device has a primary context that is active, or the thread has a current one. Loads nothing.
[[nodiscard]] bool has_context();
/// Why no device can be used; empty: one can. Loads the driver.
[[nodiscard]] std::string why_unusable();

}  // namespace tutti::cuda
