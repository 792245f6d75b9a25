// Built with -ffp-contract=off: the arithmetic must be what PTX says.
#include "tests/fake_cuda/ptx/format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fake_cuda::ptx {
namespace {

struct NamedType {
  std::string_view name;
  Type type;
};
constexpr NamedType types[] = {{"u8", {Class::unsigned_integer, 8}},
                               {"u16", {Class::unsigned_integer, 16}},
                               {"u32", {Class::unsigned_integer, 32}},
                               {"u64", {Class::unsigned_integer, 64}},
                               {"s8", {Class::signed_integer, 8}},
                               {"s16", {Class::signed_integer, 16}},
                               {"s32", {Class::signed_integer, 32}},
                               {"s64", {Class::signed_integer, 64}},
                               {"b8", {Class::bits, 8}},
                               {"b16", {Class::bits, 16}},
                               {"b32", {Class::bits, 32}},
                               {"b64", {Class::bits, 64}},
                               {"f16", {Class::ieee, 16}},
                               {"f32", {Class::ieee, 32}},
                               {"f64", {Class::ieee, 64}},
                               {"bf16", {Class::bfloat, 16}},
                               {"f16x2", {Class::ieee, 16, 2}},
                               {"bf16x2", {Class::bfloat, 16, 2}},
                               {"pred", {Class::predicate, 1}},
                               {"e4m3x2", {Class::fp8, 8, 2, false}},
                               {"e5m2x2", {Class::fp8, 8, 2, true}}};

/// A small floating format.
struct Format {
  int exponent, mantissa, bias;
  bool has_infinity;
};

constexpr Format format_of(Type type) {
  if (type.cls == Class::bfloat) return {8, 7, 127, true};
  if (type.cls == Class::ieee) return {5, 10, 15, true};
  return type.has_wide_exponent ? Format{5, 2, 15, true} : Format{4, 3, 7, false};
}

double decoded(std::uint64_t bits, Format format) {
  const int top = (1 << format.exponent) - 1;
  const int exponent = static_cast<int>(bits >> format.mantissa) & top;
  const std::uint64_t mantissa = low(bits, format.mantissa);
  const double sign = (bits >> (format.exponent + format.mantissa) & 1) != 0 ? -1 : 1;
  if (exponent == top && format.has_infinity) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == top && mantissa == low(~std::uint64_t{0}, format.mantissa)) return NAN;  // e4m3 has this one alone
  const std::uint64_t one = exponent == 0 ? 0 : std::uint64_t{1} << format.mantissa;
  return sign * std::ldexp(static_cast<double>(mantissa | one), std::max(exponent, 1) - format.bias - format.mantissa);
}

std::uint64_t encoded(double value, Format format, Rounding rounding, bool saturates) {
  const std::uint64_t top = low(~std::uint64_t{0}, format.exponent);
  const std::uint64_t infinity = top << format.mantissa;
  const std::uint64_t sign =
      std::signbit(value) ? std::uint64_t{1} << (format.exponent + format.mantissa) : std::uint64_t{0};
  const std::uint64_t nan = low(~std::uint64_t{0}, format.exponent + format.mantissa);  // the only one that a GPU makes
  const std::uint64_t largest =
      format.has_infinity ? infinity - 1 : infinity | (low(~std::uint64_t{0}, format.mantissa) - 1);
  if (std::isnan(value)) return nan;
  if (std::isinf(value)) return sign | (saturates || !format.has_infinity ? largest : infinity);
  const double size = std::fabs(value);
  if (size == 0) return sign;
  if (sign != 0 && (rounding == Rounding::down || rounding == Rounding::up))
    rounding = rounding == Rounding::down ? Rounding::up : Rounding::down;
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent = std::max(exponent - 1, 1 - format.bias);
  const double scaled = rounded_to_integer(std::ldexp(size, format.mantissa - exponent), rounding);
  const auto units = static_cast<std::uint64_t>(scaled);  // of the last place
  std::uint64_t bits = units;
  if (units >= std::uint64_t{1} << format.mantissa)
    bits += static_cast<std::uint64_t>(exponent + format.bias - 1) << format.mantissa;
  if (bits <= largest) return sign | bits;
  if (saturates || rounding == Rounding::zero || rounding == Rounding::down) return sign | largest;
  return sign | (format.has_infinity ? infinity : nan);
}

float to_float(double value, Rounding rounding) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || rounding == Rounding::none || rounding == Rounding::nearest || nearest == value)
    return nearest;
  const bool is_above = nearest > value;
  const bool is_wrong = rounding == Rounding::zero   ? (value > 0) == is_above
                        : rounding == Rounding::down ? is_above
                                                     : !is_above;
  return is_wrong ? std::nextafterf(nearest, is_above ? -INFINITY : INFINITY) : nearest;
}

}  // namespace

const Type* type_named(std::string_view name) {
  const auto* const found = std::ranges::find(types, name, &NamedType::name);
  return found == std::end(types) ? nullptr : &found->type;
}

double rounded_to_integer(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::zero:
      return std::trunc(value);
    case Rounding::down:
      return std::floor(value);
    case Rounding::up:
      return std::ceil(value);
    default:
      return std::nearbyint(value);
  }
}

double to_double(std::uint64_t bits, Type type) {
  if (type.cls == Class::ieee && type.bits == 64) return std::bit_cast<double>(bits);
  if (type.cls == Class::ieee && type.bits == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return decoded(low(bits, type.bits), format_of(type));
}

std::uint64_t bits_of(float value) { return std::isnan(value) ? 0x7fffffffU : std::bit_cast<std::uint32_t>(value); }

std::uint64_t from_double(double value, Type type, Rounding rounding, bool saturates) {
  if (type.cls == Class::ieee && type.bits == 64) return std::bit_cast<std::uint64_t>(value);
  if (type.cls == Class::ieee && type.bits == 32) return bits_of(to_float(value, rounding));
  return encoded(value, format_of(type), rounding, saturates);
}

double fused_to_odd(double a, double b, double c) {
  const double product = a * b;  // exact: the factors have at most 24 bits
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double part = sum - product, error = (product - (sum - part)) + (c - part);
  if (error == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
  return std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
}

}  // namespace fake_cuda::ptx
