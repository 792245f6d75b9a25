#pragma once
// How the ranks that make a plan in a stream agree on the way of its messages.

#include "lib/device/call/streamed_call.hpp"
#include "tutti/communicator.hpp"

namespace tutti::detail {

/// All ranks lend each other the buffers of a plan that they make, or agree that messages pass landing areas. No Entry
/// may be held, as it makes calls of its own. Throws Error.
void reach_peers(StreamedCall& plan, const Communicator& comm);

}  // namespace tutti::detail
