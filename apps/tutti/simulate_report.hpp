#pragma once
// The results of `tutti simulate` as text, JSON, CSV and pictures.

#include <string>
#include <vector>

#include "apps/tutti/simulate_run.hpp"

namespace tutti::tool {

/// "allreduce, 64 ranks, one on each of 64 hosts, fat-tree:2;8,8;1,4;1,1, block placement"
[[nodiscard]] std::string simulation_title(const SimulationSettings& settings);
[[nodiscard]] std::string simulation_text(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                                          const SimulatedMachine& machine);
[[nodiscard]] std::string simulation_json(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                                          const SimulatedMachine& machine);
[[nodiscard]] std::string simulation_csv(const std::vector<SimulatedRow>& rows);

/// Time over sizes, a line for each algorithm, and one for the lower bound.
[[nodiscard]] std::string svg_of_sizes(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings);
/// Ranks from top to bottom, time from left to right: messages, work, and the critical path.
[[nodiscard]] std::string svg_of_time(const SimulatedRow& row, const SimulationSettings& settings);
/// A line of cells for each kind of links and each algorithm, coloured by how busy the links are.
[[nodiscard]] std::string svg_of_links(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings);

/// A picture with time has no more ranks and messages than these.
inline constexpr int most_ranks_in_picture = 128;
inline constexpr std::size_t most_steps_in_picture = 20'000;

}  // namespace tutti::tool
