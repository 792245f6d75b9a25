#pragma once
// Calls of lists of buffers, and of each buffer alone.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/bench/collective.hpp"
#include "tutti/call.hpp"

namespace tutti::bench {

/// The calls of the ordinary function on each buffer of the list; of no list, the call itself.
[[nodiscard]] std::vector<Call> calls_of(const Call& call);

using Describe = detail::Call (*)(const Call& call);
/// Tutti's one call on the whole list.
[[nodiscard]] std::unique_ptr<Repeater> our_list(const Call& call, Mode mode, Describe describe);
/// What the plan of the list says of its first call.
[[nodiscard]] std::string list_explanation(const Call& call, Describe describe);

/// Makes a call on each buffer, one after the other.
[[nodiscard]] PeerCall in_turn(const Call& list, const std::function<PeerCall(const Call&)>& make);

/// Bytes from one buffer of a list to the next: so many more than it has, as separate allocations have.
[[nodiscard]] Bytes step_in_list(Bytes of_a_buffer);

}  // namespace tutti::bench
