#pragma once
// Calls one after the other.

#include "tutti/schedule.hpp"

namespace tutti::simulator {

/// A rank's schedule of one call, then that of another, which begins when the rank has done all of the first. Other
/// ranks may still be at work on that. Regions mean nothing any more: they are for costs alone.
[[nodiscard]] Schedule followed_by(Schedule first, const Schedule& second);

}  // namespace tutti::simulator
