#pragma once
// Schedules for people to read.

#include <string>

#include "tutti/schedule.hpp"

namespace tutti {

/// "output[4..8)"
[[nodiscard]] std::string to_text(const Region& region);
/// "send output[4..8) to 3", with "(message 2)" from the second message of a pair on.
[[nodiscard]] std::string to_text(const Action& action);
/// One line per step, grouped by round: a step belongs to the round of the messages of this rank that it follows.
[[nodiscard]] std::string to_text(const Schedule& schedule);

}  // namespace tutti
