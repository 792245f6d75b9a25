#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/topology/topology.hpp"

namespace tutti::topology {

struct GpuSurvey {
  std::vector<Gpu> gpus;
  std::vector<std::vector<int>> nvlinks;  ///< Between all pairs; a connection through switches counts as direct.
  std::string driver;                     ///< Its version; empty if there is none.
  std::string why_not;                    ///< Why nothing is known of GPUs; empty if it is.
};

/// The GPUs that the NVIDIA driver knows, in its order, by PCI; where they are from `sys`, "/sys". Never throws for a
/// missing driver.
[[nodiscard]] GpuSurvey find_gpus(const std::filesystem::path& sys);

/// The devices that a program may use whose CUDA_VISIBLE_DEVICES is `setting` (null: all): numbers or parts of UUIDs,
/// up to the first that does not exist. Takes CUDA's numbers for the driver's: CUDA_DEVICE_ORDER=PCI_BUS_ID.
[[nodiscard]] Numbers visible_gpus(const std::vector<Gpu>& gpus, const char* setting);

}  // namespace tutti::topology
