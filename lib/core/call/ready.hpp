#pragma once
// Parts of calls that calls of several operations use, too.

#include "lib/core/call/arguments.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/run/operation.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

/// The operation of a call, its arguments checked. While streams wait for operations, it moves these until there is
/// memory for it. Needs an Entry.
[[nodiscard]] Operation& ready(const Call& call, CommunicatorState& state, const Options& options,
                               records::Manner manner);
/// Reads the file that the options name, if they name one that the communicator has not read yet: all ranks meet.
void read_named_file(Collective collective, const Communicator& comm, const Options& options);
[[noreturn]] void refuse_stream(const CallSite& site);

}  // namespace tutti::detail
