#pragma once

#include <filesystem>

#include "lib/topology/topology.hpp"

namespace tutti::topology {

/// The facts that this process can find out by itself: about its machine, and about the processors and devices that it
/// may use. Takes some milliseconds; asks hwloc, the NVIDIA driver and `sys`. Missing facts are named in the result:
/// throws nothing but std::bad_alloc.
[[nodiscard]] Survey survey(const std::filesystem::path& sys = "/sys");

}  // namespace tutti::topology
