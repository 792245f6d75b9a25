#pragma once
// Users' operations for elements of any type, taken as bytes.

#include "tutti/op.hpp"

namespace tutti::soak {

/// Commutative: bytes are added, modulo 256. Not commutative: each byte is a map x -> a * x + b modulo 16, with a in
/// the upper and b in the lower four bits; maps are composed.
[[nodiscard]] Op user_op(Commutative commutative, Type type);

/// lhs (+) rhs of one byte, for the reference.
[[nodiscard]] constexpr unsigned char combined(Commutative commutative, unsigned char lhs, unsigned char rhs) {
  if (commutative == Commutative::yes) return static_cast<unsigned char>(lhs + rhs);
  const unsigned a = lhs >> 4U, b = lhs & 15U, c = rhs >> 4U, d = rhs & 15U;
  return static_cast<unsigned char>(((a * c) & 15U) << 4U | ((a * d + b) & 15U));
}

}  // namespace tutti::soak
