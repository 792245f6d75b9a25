#pragma once
// A type that carries what the interface has no Type for.

#include "tutti/datatype.hpp"

namespace tutti::detail {

/// Elements of 32 bytes that a user's operation combines: pairs and complex numbers of long double, which the preloaded
/// library serves. It is no Type of the interface: is_type() says so, but calls take it.
inline constexpr Type wide_type = static_cast<Type>(64);

}  // namespace tutti::detail
