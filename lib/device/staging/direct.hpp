#pragma once
// Messages inside a node whose data peers take where they are on a device.

#include "lib/core/plan/shared_plan.hpp"

namespace tutti::device {

/// Lets all messages through shared memory go by Transport::ipc, and notes the results that are sent on (SideStep). No
/// copies are shared: every reader takes the data themselves.
void go_by_ipc(shm::SharedPlan& plan);

}  // namespace tutti::device
