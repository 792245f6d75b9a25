#pragma once
// The devices of this process, for people. Needs no header of CUDA.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::cuda {

/// Empty texts and 0: the driver does not tell.
struct DeviceFacts {
  std::string name;        ///< "NVIDIA H100 80GB HBM3".
  std::string capability;  ///< "9.0".
  std::string bus_id;      ///< "0000:3b:00.0".
  std::int64_t bytes = 0;  ///< Bytes of memory.
};

/// How a device reaches the memory of another one. Nothing: the driver does not tell.
struct Reach {
  std::optional<bool> direct;   ///< Kernels of the one may use it, once access was enabled.
  std::optional<bool> atomics;  ///< Its atomic operations work there: over NVLink they do, over PCIe they do not.
  std::optional<int> rank;      ///< The rank of the link: the lower, the faster.
};

struct DeviceSurvey {
  bool is_built = false;                      ///< The library was built with CUDA,
  bool has_kernels = false;                   ///< and with nvcc.
  std::string driver{};                       ///< The version that it supports, as "13.0"; empty: there is none.
  std::string why_not{};                      ///< Why there are no devices; empty: there are.
  std::vector<DeviceFacts> devices{};         ///< In CUDA's order.
  std::vector<std::vector<Reach>> reaches{};  ///< From each to each; of a device to itself it says nothing.
};

/// Loads the driver and initialises it. Makes no context, and uses no device.
[[nodiscard]] DeviceSurvey survey_devices();

}  // namespace tutti::cuda
