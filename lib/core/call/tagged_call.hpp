#pragma once
// Calls that send and receive messages with tags.

#include <span>

#include "lib/core/call/arguments.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/run/matching.hpp"

namespace tutti::detail {

/// A message to or from it is none.
inline constexpr Rank nobody{MPI_PROC_NULL};

// Messages, once their arguments are checked; not of `nobody`. Throw ArgumentError.
[[nodiscard]] TaggedMessage tagged_send(const CommunicatorState& state, const void* data, Count count, Type type,
                                        Rank to, Tag tag);
[[nodiscard]] TaggedMessage tagged_recv(const CommunicatorState& state, void* data, Count count, Type type, Rank from,
                                        Tag tag, Received* received);
/// What a receive from nobody gets.
[[nodiscard]] constexpr Received nothing_received() { return {nobody, any_tag, Count{0}}; }

/// Starts them, receives first. Needs an Entry.
[[nodiscard]] OwnedTaggedCall started(const std::shared_ptr<CommunicatorState>& state,
                                      std::span<const TaggedMessage> messages);

}  // namespace tutti::detail
