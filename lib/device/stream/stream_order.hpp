#pragma once
// The order of calls in different streams.

#include <cuda.h>

#include <atomic>
#include <memory>
#include <optional>

#include "lib/device/driver/device.hpp"

namespace tutti::stream {

/// Lets each call wait for the one before, if that is in another stream. Of calls in a captured stream, those of the
/// same capture count: its graph runs when the program launches it, in the order of the program.
class StreamOrder {
 public:
  /// Throws Error.
  explicit StreamOrder(cuda::Device& device);
  StreamOrder(const StreamOrder&) = delete;
  StreamOrder& operator=(const StreamOrder&) = delete;
  ~StreamOrder();

  // In the context of the device.
  /// A call begins.
  void enter(CUstream stream);
  /// All of the call that began last is in the stream.
  void leave(CUstream stream);
  /// Whether the last call that was not captured is under way still. Throws Error.
  [[nodiscard]] bool is_busy() const;
  /// Whether there are graphs of captured calls, which may run at any time.
  [[nodiscard]] bool are_graphs_alive() const { return graphs_->load(std::memory_order_acquire) > 0; }

 private:
  struct Last {
    CUevent event = nullptr;
    std::optional<unsigned long long> stream{};  ///< cuStreamGetId; nothing: there was no call.
  };
  [[nodiscard]] Last& last_of(CUstream stream);
  [[nodiscard]] static unsigned long long id_of(CUstream stream);
  void count(CUgraph graph);

  cuda::Device* device_;
  Last plain_{}, captured_{};
  mutable bool is_over_ = false;         ///< The last call that was not captured, as it was seen.
  Last* current_ = nullptr;              ///< For the call that began last,
  unsigned long long stream_id_ = 0;     ///< and its stream.
  std::optional<cuuint64_t> capture_{};  ///< The capture of the last captured call.
  /// The number of graphs that hold captured calls. The driver counts down, when all that was made of one is destroyed.
  std::shared_ptr<std::atomic<int>> graphs_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace tutti::stream
