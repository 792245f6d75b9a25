#pragma once

#include <filesystem>

#include "lib/topology/topology.hpp"

namespace tutti::topology {

/// What this process can find out by itself: of its machine, and where on it it may run. Takes some milliseconds; asks
/// hwloc, the NVIDIA driver and `sys`. What is missing is named in the result: throws nothing but std::bad_alloc.
[[nodiscard]] Survey survey(const std::filesystem::path& sys = "/sys");

}  // namespace tutti::topology
