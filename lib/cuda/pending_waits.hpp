#pragma once
// Streams of this process in which an operation waits for other ranks. Meanwhile nothing may be called that waits for
// the device: what the operation waits for may need this very thread. Needs no header of CUDA.

#include <vector>

namespace tutti::cuda {

/// Whoever puts such operations into streams. All members need an Entry (lib/runtime/progress.hpp).
class StreamWaits {
 public:
  StreamWaits() { all().push_back(this); }
  StreamWaits(const StreamWaits&) = delete;
  StreamWaits& operator=(const StreamWaits&) = delete;
  virtual ~StreamWaits() { std::erase(all(), this); }

  /// Whether any of its operations may wait still.
  [[nodiscard]] virtual bool are_pending() const noexcept = 0;

  /// The same of this process: then no memory may be allocated, registered or freed.
  [[nodiscard]] static bool any_pending() noexcept {
    for (const StreamWaits* each : all())
      if (each->are_pending()) return true;
    return false;
  }

 private:
  static std::vector<StreamWaits*>& all() {
    static std::vector<StreamWaits*>& list = *new std::vector<StreamWaits*>;
    return list;
  }
};

}  // namespace tutti::cuda
