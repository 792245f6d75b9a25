#pragma once
// The context in which CUDA's calls are made: that of the memory, never one made here.

#include <cuda.h>

namespace tutti::cuda {

/// Makes a context current in this thread until it is destroyed; the one before is current again then.
class ScopedContext {
 public:
  /// Throws Error.
  explicit ScopedContext(CUcontext context);
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  ~ScopedContext();
};

}  // namespace tutti::cuda
