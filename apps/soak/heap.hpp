#pragma once
// The heap of the C library.

#include "tutti/types.hpp"

namespace tutti::soak {

/// Gives free memory back to the system, and returns the bytes that malloc has handed out and not got back. 0 where the
/// C library does not tell.
[[nodiscard]] Bytes trimmed_heap();

}  // namespace tutti::soak
