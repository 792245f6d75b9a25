#pragma once
// The state of CUDA on this machine, for people.

#include <string>

namespace tutti::cuda {

/// "driver 13.0, 2 devices", or why there is none. Empty: the library was built without CUDA.
[[nodiscard]] std::string state();

}  // namespace tutti::cuda
