#pragma once
// Whether the CUDA driver is part of this process. Needs no header of CUDA.

namespace tutti::cuda {

/// A handle for dlsym(); nullptr: the program has not loaded the driver, so no pointer leads to a device. Never loads
/// it: that may take a second, which programs that use no GPU must not pay. Costs some 50 ns while there is none.
[[nodiscard]] void* loaded_library() noexcept;

}  // namespace tutti::cuda
