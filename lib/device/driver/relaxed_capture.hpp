#pragma once
// Calls that a program's capture of a stream would otherwise forbid, though they do not concern it.

#include <cuda.h>

#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {

/// Until it is destroyed, calls of this thread may ask events, and allocate, beside a capture.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { exchange(); }

 private:
  void exchange() noexcept { static_cast<void>(driver()->ThreadExchangeStreamCaptureMode(&mode_)); }
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

}  // namespace tutti::cuda
