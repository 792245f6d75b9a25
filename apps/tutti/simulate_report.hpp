#pragma once
// The results of `tutti simulate` as text, JSON, CSV and pictures.

#include <span>
#include <string>
#include <vector>

#include "apps/tutti/simulate_run.hpp"

namespace tutti::tool {

/// "allreduce, 64 ranks, 1 to 6 a host, fat-tree:2;8,8;1,4;1,1, placement FILE"
[[nodiscard]] std::string simulation_title(const SimulationSettings& settings, const SimulatedMachine& machine);
/// "lower bound 5.600 us, of rounds"; of a sequence, it is that of one of its calls.
[[nodiscard]] std::string bound_text(const SimulatedRow& row, const SimulationSettings& settings);
/// The lines before all tables: what was simulated, and at which rates.
[[nodiscard]] std::string simulation_head(const SimulationSettings& settings, const SimulatedMachine& machine);
/// The rows of one size, which are one or more. `is_single`: there is no other row at all, and this has details.
[[nodiscard]] std::string simulation_text(std::span<const SimulatedRow> rows, const SimulationSettings& settings,
                                          bool is_single);
[[nodiscard]] std::string simulation_json(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                                          const SimulatedMachine& machine);
[[nodiscard]] std::string simulation_csv(const std::vector<SimulatedRow>& rows);

/// Time over sizes, a line for each algorithm, and one for the lower bound.
[[nodiscard]] std::string svg_of_sizes(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                                       const SimulatedMachine& machine);
/// Ranks from top to bottom, time from left to right: messages, work, and the critical path.
[[nodiscard]] std::string svg_of_time(const SimulatedRow& row, const SimulationSettings& settings,
                                      const SimulatedMachine& machine);
/// A line of cells for each kind of links and each algorithm, coloured by how busy the links are.
[[nodiscard]] std::string svg_of_links(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                                       const SimulatedMachine& machine);

/// A picture with time has no more ranks and messages than these.
inline constexpr int most_ranks_in_picture = 128;
inline constexpr std::size_t most_steps_in_picture = 20'000;

}  // namespace tutti::tool
