#pragma once
// A GPU as a training uses it. In a build without CUDA there is none.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "apps/sgd/product.hpp"

struct CUstream_st;

namespace tutti::sgd {

/// Everything that it is told to do is done in order, but for the calls in its second stream. Its context is current in
/// the thread that made it for as long as it lives; all calls come from that thread. Functions throw Error if the
/// driver refuses.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Memory of the device, all 0. nullptr for no bytes.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Queues a copy between host and device, or on the device. Memory of the host must last until wait().
  virtual void copy(const void* from, void* to, std::size_t bytes) = 0;
  /// Queues a task for all elements. `type`: "float" or "double".
  virtual void launch(const char* task, const char* type, std::uint64_t elements, const void* arguments) = 0;
  /// Makes cuBLAS ready. Why that cannot be done; empty: it is.
  [[nodiscard]] virtual std::string open_library() = 0;
  /// Queues a product by cuBLAS.
  virtual void multiply(const Product<float>& product) = 0;
  virtual void multiply(const Product<double>& product) = 0;
  /// Returns when all that was queued is done.
  virtual void wait() = 0;

  /// A stream beside that of the tasks.
  [[nodiscard]] virtual CUstream_st* second_stream() = 0;
  /// What is put into the second stream from now on comes after the tasks that are queued.
  virtual void second_waits() = 0;
  /// Tasks that are queued from now on come after what is in the second stream.
  virtual void tasks_wait() = 0;
};

/// Why this process cannot train on a device; empty: it can. For people: "--device: libcuda.so.1 was not found".
[[nodiscard]] std::string why_no_device();
/// Makes the device of a rank of the node current in this thread, for good: a communicator that is made then knows it.
void use_device(int local_rank);
/// The device that this rank of the node has in turn.
[[nodiscard]] std::unique_ptr<Device> open_device(int local_rank);

}  // namespace tutti::sgd
