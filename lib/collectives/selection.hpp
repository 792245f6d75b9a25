#pragma once
// Which algorithm runs when the user does not say.

#include "lib/runtime/settings.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/op.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// The algorithm for an allreduce of `bytes` on `size` ranks. A pure function of what all ranks know alike.
[[nodiscard]] const Algorithm& select_allreduce(Bytes bytes, int size, const Op& op, const Settings& settings);

}  // namespace tutti
