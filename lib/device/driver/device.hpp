#pragma once
// One context of a device, with all that work on it needs: kernels, streams, events.

#include <cuda.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/device/driver/context.hpp"
#include "lib/device/driver/kernels.hpp"

namespace tutti::cuda {

/// Everything is made at the beginning, ahead of any wait: loading kernels, and making a stream, may synchronise the
/// device.
class Device {
 public:
  /// `context`: that of the memory, which has to outlive it. Throws DeviceError.
  explicit Device(CUcontext context);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  /// Waits for all work, if the context is still there.
  ~Device();

  [[nodiscard]] CUcontext context() const { return context_; }
  /// Whether the context is still the one that this was made for; another may have got its address. False: nothing of
  /// it is left.
  [[nodiscard]] bool is_there() const noexcept;
  [[nodiscard]] const Kernels& kernels() const { return *kernels_; }
  // Streams do not wait for the legacy stream. Work of one of them runs in order; that of two may run at the same time.
  // They have the greatest priority: streams of others do not share a hardware queue with them, where an operation that
  // waits for this rank would hold them up.

  /// The streams of copies to the host and from it: a device has an engine for each.
  [[nodiscard]] CUstream stream_to_host() const { return streams_[2]; }
  [[nodiscard]] CUstream stream_from_host() const { return streams_[3]; }
  /// A stream for kernels and copies on the device: two in turn.
  [[nodiscard]] CUstream next_stream();

  /// Makes events, so that there are so many that nobody uses. Throws DeviceError.
  void prepare_events(std::size_t most);
  /// An event that nobody uses. In the context; throws DeviceError.
  [[nodiscard]] CUevent take_event();
  void give_back(CUevent event) { events_.push_back(event); }

  /// Pieces of work that were posted to the streams, and those that were seen to be over.
  struct Work {
    std::uint64_t posted = 0, done = 0;
  };
  Work work{};
  /// Nothing: nobody has asked yet (lib/device/staging/device_port.hpp).
  std::optional<bool> can_wait_in_streams{};

 private:
  void release() noexcept;
  static CUevent new_event();

  CUcontext context_;
  /// Memory that lives as long as the context: a context that may be gone cannot be asked, but any address can.
  CUdeviceptr mark_ = 0;
  unsigned long long mark_id_ = 0;  ///< No other allocation of the process ever has it.
  std::optional<Kernels> kernels_;
  std::array<CUstream, 4> streams_{};
  std::size_t turn_ = 0;         ///< Which of the first two streams is next.
  std::vector<CUevent> events_;  ///< That nobody uses.
};

/// Memory of a device; none if there are no bytes.
class DeviceBuffer {
 public:
  /// Throws DeviceError if there is no such memory.
  DeviceBuffer(const Device& device, std::int64_t bytes);
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  ~DeviceBuffer();
  [[nodiscard]] CUdeviceptr address() const { return address_; }

 private:
  CUcontext context_;
  CUdeviceptr address_ = 0;
};

}  // namespace tutti::cuda
