#pragma once
// The processes that have mapped an allocation of another one.

#include <atomic>
#include <cstddef>

namespace fake_cuda {

struct Region;

/// Lies in memory that processes share. Zeros are a valid one.
class Importers {
 public:
  /// One mapping more, or less, of this process.
  void add();
  void remove();
  /// Processes with a mapping; those that have ended have none.
  [[nodiscard]] std::size_t count() const;

 private:
  static constexpr std::size_t most = 1024;
  bool replace(int from, int to);
  std::atomic<int> processes_[most];  ///< A process for each mapping; 0: no mapping.
};

/// With FAKE_CUDA_STRICT_IPC=1 the owner must not free what another process still has mapped: to be asked before.
void check_importers(const char* name, const Region& region);

}  // namespace fake_cuda
