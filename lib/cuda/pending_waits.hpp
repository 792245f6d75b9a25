#pragma once
// Streams of this process in which an operation waits for other ranks. Meanwhile nothing may be called that waits for
// the device: what the operation waits for may need this very thread. Needs no header of CUDA.

#include <algorithm>
#include <vector>

namespace tutti::cuda {

/// Whoever puts such operations into streams. All members need an Entry (lib/runtime/progress.hpp).
class StreamWaits {
 public:
  StreamWaits() { all().push_back(this); }
  StreamWaits(const StreamWaits&) = delete;
  StreamWaits& operator=(const StreamWaits&) = delete;
  virtual ~StreamWaits() { std::erase(all(), this); }

  /// Whether any of its operations waits, or has yet to.
  [[nodiscard]] virtual bool are_pending() const noexcept = 0;
  /// Whether one may wait in a graph, of which only the program knows when it runs.
  [[nodiscard]] virtual bool are_in_graphs() const noexcept { return false; }

  /// Of this process: then no memory may be allocated, registered or freed.
  [[nodiscard]] static bool any_pending() noexcept {
    return std::ranges::any_of(all(), [](const StreamWaits* each) { return each->are_pending(); });
  }
  /// The same or in a graph: then nothing is freed or closed that can stay.
  [[nodiscard]] static bool any_possible() noexcept {
    return std::ranges::any_of(all(),
                               [](const StreamWaits* each) { return each->are_in_graphs() || each->are_pending(); });
  }

 private:
  static std::vector<StreamWaits*>& all() {
    static std::vector<StreamWaits*>& list = *new std::vector<StreamWaits*>;
    return list;
  }
};

}  // namespace tutti::cuda
