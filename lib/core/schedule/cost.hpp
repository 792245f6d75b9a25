#pragma once
// Costs as they are counted in schedules.

#include <span>

#include "tutti/algorithm.hpp"

namespace tutti {

/// The cost of a rank's schedule for that rank; `rounds` depends on all ranks and is left 0.
[[nodiscard]] Cost counted(const Schedule& schedule);
/// The most of each figure over all ranks.
[[nodiscard]] Cost busiest(std::span<const Cost> costs);

}  // namespace tutti
