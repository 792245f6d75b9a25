#pragma once
// How an operation that fails ends: what its caller is told, and what other ranks hear of it.

#include <exception>
#include <string_view>

#include "lib/core/communicator/workspace.hpp"

namespace tutti::detail {

/// The exception that is being handled, as the error of an operation: an Error or MismatchError whose text names the
/// call, the rank and the cause. The communicator cannot be used any more; other ranks are told unless they know.
/// `name`: the call as reports name it, "allreduce (ring), operation 7".
[[nodiscard]] std::exception_ptr failure_in_flight(Workspace& workspace, const records::Signature& call,
                                                   std::string_view name);

}  // namespace tutti::detail
