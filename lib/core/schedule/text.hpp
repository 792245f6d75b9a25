#pragma once
// Schedules for people to read.

#include <span>
#include <string>

#include "tutti/schedule.hpp"

namespace tutti {

/// "output[4..8)"
[[nodiscard]] std::string to_text(const Region& region);
/// "send output[4..8) to 3", with "(message 2)" from the second message of a pair on.
[[nodiscard]] std::string to_text(const Action& action);
/// One line per step, in the schedule's order.
[[nodiscard]] std::string to_text(const Schedule& schedule);
/// The steps under the rounds that they belong to, one for each step: checker::rounds_of() has them.
[[nodiscard]] std::string to_text(const Schedule& schedule, std::span<const int> rounds);

}  // namespace tutti
