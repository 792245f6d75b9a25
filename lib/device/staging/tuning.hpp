#pragma once
// Every threshold of staging. They are guesses from the rates of PCIe 4 and 5, until they can be measured on a GPU.
// chunk_bytes and copied_in_place: mpirun -n 4 tutti tune --memory device --transport --write FILE, the first with
// TUTTI_DEVICE_PATH=staging where ranks map each other's devices. The two others are parts of a
// model of cost: compare the times with TUTTI_STAGING=host and with TUTTI_STAGING=device.

#include <chrono>
#include <cstdint>

namespace tutti::device {

struct Tuning {
  /// Data leave and reach a device in chunks of at least so many bytes, so that other chunks are under way meanwhile.
  std::int64_t chunk_bytes = 256 * 1024L;
  /// A copy or a kernel costs as much as moving so many bytes more: its launch, its event, and the look at it.
  std::int64_t bytes_an_operation = 64 * 1024L;
  /// Data of a device that the host looks at itself are copied in parts of so many bytes.
  std::int64_t looked_at_bytes = 1024L * 1024;
  /// The host reduces as many bytes as these are times the bytes that are moved in that time.
  std::int64_t host_reduces = 2;
  /// Allreduces in place of up to so many bytes whose messages peers take run on a copy of their input.
  std::int64_t copied_in_place = 256 * 1024L;
  /// So long a call waits for memory of the device that it asks for in the order of a stream. Then operations move, and
  /// it asks again.
  std::chrono::milliseconds in_order_patience{20};
  /// Blocks of pinned memory that are kept for calls while a stream waits, when none can be made: 2, 8 and 32 of them.
  std::int64_t reserved_long = 8L * 1024 * 1024, reserved_middle = 1024L * 1024, reserved_short = 64L * 1024;
};
inline constexpr Tuning tuning{};

}  // namespace tutti::device
