#pragma once
// The operations that are over: when each was posted, started and ended.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fake_cuda/fake_cuda.h"

namespace fake_cuda {

/// What an operation does.
struct What {
  const char* kind = "none";  ///< Never freed.
  std::uint64_t bytes = 0;    ///< 0 as well where they are known only at the end: Running has them.
  std::string name{};         ///< The name of a kernel.
};

/// Kept if FAKE_CUDA_TIMELINE says so, or from the first clear() on.
class Timeline {
 public:
  static Timeline& get();

  [[nodiscard]] bool is_kept() const { return is_kept_; }
  void clear();
  void add(const FakeCudaOperation& operation);
  /// The first `most` of them. Returns how many there are.
  std::uint64_t read(FakeCudaOperation* operations, std::uint64_t most);

 private:
  Timeline();
  std::mutex mutex_;
  std::atomic<bool> is_kept_{false};
  int file_ = -1;
  std::vector<FakeCudaOperation> operations_;
};

}  // namespace fake_cuda
