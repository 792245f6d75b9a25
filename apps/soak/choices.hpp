#pragma once
// The generator's choices among Tutti's operations and algorithms.

#include <cstdint>
#include <string>
#include <vector>

#include "apps/soak/call.hpp"
#include "apps/soak/random.hpp"

namespace tutti::soak {

/// An operation that the type has: any of Tutti's, or a user's, commutative or not.
[[nodiscard]] Op random_op(Random& random, Collective collective, Type type);

/// Any registered algorithm that serves the call on these nodes, with any parameter and segments, as Options take it;
/// or "", for Tutti's own choice. `bytes`: of the longer buffer of a rank; there are at most some 40 segments of it.
[[nodiscard]] std::string random_algorithm(Random& random, const Call& call, const std::vector<int>& nodes,
                                           std::int64_t bytes);

}  // namespace tutti::soak
