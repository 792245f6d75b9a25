#pragma once

#include <span>
#include <string>

#include "apps/tutti/info_session.hpp"
#include "lib/topology/job.hpp"

namespace tutti::tool {

/// Which nodes' distances are shown pair by pair: those with few ranks, or all.
enum class Pairs : std::uint8_t { of_small_nodes, of_all_nodes };

/// The job in tables, somewhat like those of `nvidia-smi topo -m`; ends with a line's end.
[[nodiscard]] std::string to_text(const topology::Job& job, Pairs pairs);
/// A table, after an empty line.
[[nodiscard]] std::string to_text(std::span<const CounterRow> counters);

}  // namespace tutti::tool
