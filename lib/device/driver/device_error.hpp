#pragma once
// The error of a device. What users see has their call and their rank as well: lib/core/call, lib/core/run.

#include "tutti/error.hpp"

namespace tutti {

/// A function of the CUDA driver failed: "cuMemAlloc: CUDA_ERROR_LAUNCH_FAILED", and perhaps a remedy.
class DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace tutti
