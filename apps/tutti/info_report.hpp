#pragma once
// Topologies as text, and as JSON for other programs and from rank to rank.

#include <span>
#include <string>

#include "apps/tutti/info_devices.hpp"
#include "apps/tutti/info_session.hpp"
#include "lib/topology/job.hpp"

namespace tutti::tool {

/// Which nodes' distances are shown pair by pair: those with few ranks, or all.
enum class Pairs : std::uint8_t { of_small_nodes, of_all_nodes };

/// The job in tables, somewhat like those of `nvidia-smi topo -m`; ends with a line's end.
[[nodiscard]] std::string to_text(const topology::Job& job, Pairs pairs);
/// A table, after an empty line.
[[nodiscard]] std::string to_text(std::span<const CounterRow> counters);

/// JSON in one line.
[[nodiscard]] std::string to_json(const topology::Report& report);
/// Throws std::exception that says what is wrong with it if no rank wrote it.
[[nodiscard]] topology::Report report_from_json(const std::string& text);
/// For people and programs; docs/topology.md explains the keys.
[[nodiscard]] std::string to_json(const topology::Job& job, const DeviceReport& devices);

}  // namespace tutti::tool
