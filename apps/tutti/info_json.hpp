#pragma once
// Topologies as JSON: for other programs, and from rank to rank.

#include <string>

#include "apps/tutti/info_devices.hpp"
#include "lib/topology/job.hpp"

namespace tutti::tool {

/// The report in one line.
[[nodiscard]] std::string to_json(const topology::Report& report);
/// Throws std::exception that says what is wrong with it if no rank wrote it.
[[nodiscard]] topology::Report report_from_json(const std::string& text);
/// The job in JSON; docs/topology.md explains the keys.
[[nodiscard]] std::string to_json(const topology::Job& job, const DeviceReport& devices);

}  // namespace tutti::tool
