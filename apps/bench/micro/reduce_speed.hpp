#pragma once
// The sums that reduce_speed compares with.

#include <cstddef>

#include "tutti/datatype.hpp"

namespace tutti {

/// into[i] = lhs[i] + rhs[i], one element at a time: the compiler is told not to vectorise it.
using ScalarSum = void (*)(const void* lhs, const void* rhs, void* into, std::size_t count);
[[nodiscard]] ScalarSum scalar_sum(Type type);

}  // namespace tutti
