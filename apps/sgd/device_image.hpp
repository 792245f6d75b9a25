#pragma once
// The kernels of device_kernels.cu as nvcc built them: a fatbin in the program.

namespace tutti::sgd {

[[nodiscard]] const void* device_image();

}  // namespace tutti::sgd
