#pragma once

#include <cuda.h>

namespace tutti::cuda {

/// Throws DeviceError that names the function and the driver's error, unless `result` is CUDA_SUCCESS.
void check(CUresult result, const char* function);

}  // namespace tutti::cuda
