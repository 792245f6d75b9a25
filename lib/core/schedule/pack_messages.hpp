#pragma once
// Pass: every message carries one region.

#include "tutti/schedule.hpp"

namespace tutti {

/// Messages of several regions are gathered into scratch before they leave and spread from scratch after they arrive,
/// so that transports handle contiguous memory only. Costs a copy and scratch of the size of each of these messages.
[[nodiscard]] Schedule pack_messages(const Schedule& schedule);

}  // namespace tutti
