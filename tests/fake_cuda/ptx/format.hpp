#pragma once
// Types of PTX, and the number formats behind them.

#include <cstdint>
#include <string_view>

namespace fake_cuda::ptx {

enum class Class : std::uint8_t { none, unsigned_integer, signed_integer, bits, ieee, bfloat, fp8, predicate };

struct Type {
  Class cls = Class::none;
  std::uint8_t bits = 0, lanes = 1;
  bool has_wide_exponent = false;  ///< Class::fp8: e5m2, not e4m3.
};

/// nullptr: no type has that name ("u32", without a dot).
const Type* type_named(std::string_view name);

constexpr bool is_floating(Type type) {
  return type.cls == Class::ieee || type.cls == Class::bfloat || type.cls == Class::fp8;
}

enum class Rounding : std::uint8_t { none, nearest, zero, down, up };

double rounded_to_integer(double value, Rounding rounding);

/// The low `bits` bits.
constexpr std::uint64_t low(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}
constexpr std::int64_t sign_extended(std::uint64_t value, int bits) {
  if (bits >= 64) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// The value of a lane of a floating type.
double to_double(std::uint64_t bits, Type type);
/// `saturates`: too large a value becomes the largest of the format, not infinity.
std::uint64_t from_double(double value, Type type, Rounding rounding = Rounding::nearest, bool saturates = false);
/// The bits of a float; of any NaN those of the only one that a GPU makes.
std::uint64_t bits_of(float value);

/// a * b + c rounded to odd: rounded again to a format of at most 24 bits that gives what one rounding would.
double fused_to_odd(double a, double b, double c);

}  // namespace fake_cuda::ptx
