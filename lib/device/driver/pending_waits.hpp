#pragma once
// Streams of this process in which an operation waits for other ranks. Meanwhile nothing may be called that waits for
// the device: what the operation waits for may need this very thread. Needs no header of CUDA.

namespace tutti::cuda {

/// An object that puts such operations into streams. All members need an Entry (lib/core/run/progress.hpp).
class StreamWaits {
 public:
  StreamWaits();
  StreamWaits(const StreamWaits&) = delete;
  StreamWaits& operator=(const StreamWaits&) = delete;
  virtual ~StreamWaits();

  /// Whether any of its operations waits, or has yet to.
  [[nodiscard]] virtual bool are_pending() const noexcept = 0;
  /// Whether one may wait in a graph, of which only the program knows when it runs.
  [[nodiscard]] virtual bool are_in_graphs() const noexcept { return false; }

  /// Whether any wait of this process is pending: then no memory may be allocated, registered or freed.
  [[nodiscard]] static bool any_pending() noexcept;
  /// Whether any is pending or in a graph: then nothing is freed or closed that can stay.
  [[nodiscard]] static bool any_possible() noexcept;
};

}  // namespace tutti::cuda
