#pragma once
// The context in which CUDA's calls are made: that of the memory, never one made here.

#include <cuda.h>

#include <new>

namespace tutti::cuda {

/// Makes a context current in this thread until it is destroyed; the one before is current again then.
class ScopedContext {
 public:
  /// Throws Error.
  explicit ScopedContext(CUcontext context);
  /// The constructor for destructors: is_current() says whether it worked. It does not once the driver was shut down.
  ScopedContext(CUcontext context, std::nothrow_t) noexcept;
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  ~ScopedContext();
  [[nodiscard]] bool is_current() const { return is_current_; }

 private:
  bool is_current_ = false;
};

}  // namespace tutti::cuda
