// Built with -ffp-contract=off: the arithmetic must be what PTX says.
#include "tests/fake_cuda/ptx/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace fake_cuda::ptx {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

constexpr double least_normal = 0x1p-126;

double flushed(double value, const Instruction& instruction) {
  return instruction.flushes && std::fabs(value) < least_normal ? std::copysign(0.0, value) : value;
}

std::uint64_t double_lane(const Instruction& instruction, std::uint64_t a_bits, std::uint64_t b_bits,
                          std::uint64_t c_bits) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  const auto a = std::bit_cast<double>(a_bits), b = std::bit_cast<double>(b_bits), c = std::bit_cast<double>(c_bits);
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  switch (instruction.opcode) {
    case Opcode::add:
      return bits(a + b);
    case Opcode::sub:
      return bits(a - b);
    case Opcode::mul:
      return bits(a * b);
    case Opcode::mad:
      return bits(std::fma(a, b, c));
    case Opcode::div:
      return bits(a / b);
    case Opcode::sqrt:
      return bits(std::sqrt(a));
    case Opcode::rcp:
      return bits(1 / a);
    case Opcode::neg:
      return a_bits ^ sign;
    case Opcode::abs:
      return a_bits & ~sign;
    case Opcode::min:
      return std::isnan(a) ? b_bits : std::isnan(b) || a < b || (a == b && std::signbit(a)) ? a_bits : b_bits;
    case Opcode::max:
      return std::isnan(a) ? b_bits : std::isnan(b) || a > b || (a == b && !std::signbit(a)) ? a_bits : b_bits;
    default:
      return 0;
  }
}

double least_or_greatest(const Instruction& instruction, double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return (std::isnan(a) && std::isnan(b)) || instruction.keeps_nan ? NAN : std::isnan(a) ? b : a;
  const bool is_less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return (instruction.opcode == Opcode::min) == is_less ? a : b;
}

/// At most 24 bits: computed in double and rounded once more does not differ from one rounding, but for sums and fused
/// products, which are rounded to odd first.
double in_double(const Instruction& instruction, double a, double b, double c) {
  switch (instruction.opcode) {
    case Opcode::add:
      return fused_to_odd(a, 1, b);
    case Opcode::sub:
      return fused_to_odd(a, 1, -b);
    case Opcode::mul:
      return a * b;
    case Opcode::mad:
      return fused_to_odd(a, b, c);
    case Opcode::div:
      return a / b;
    case Opcode::sqrt:
      return std::sqrt(a);
    case Opcode::rcp:
      return 1 / a;
    case Opcode::min:
    case Opcode::max:
      return least_or_greatest(instruction, a, b);
    default:
      return 0;
  }
}

std::uint64_t float_lane(const Instruction& instruction, Type type, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (type.bits == 64) return double_lane(instruction, a, b, c);
  if (instruction.opcode == Opcode::neg) return low(a, type.bits) ^ std::uint64_t{1} << (type.bits - 1);
  if (instruction.opcode == Opcode::abs) return low(a, type.bits - 1);
  const auto value = [&](std::uint64_t bits) { return flushed(to_double(bits, type), instruction); };
  double result = in_double(instruction, value(a), value(b), value(c));
  if (instruction.saturates) result = std::isnan(result) ? 0 : std::clamp(result, 0.0, 1.0);
  const Rounding rounding = instruction.rounding == Rounding::none ? Rounding::nearest : instruction.rounding;
  return from_double(flushed(result, instruction), type, rounding);
}

std::uint64_t product(const Instruction& instruction, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const int bits = instruction.type.bits;
  const bool is_signed = instruction.type.cls == Class::signed_integer;
  const UnsignedWide whole = is_signed
                                 ? static_cast<UnsignedWide>(Wide{sign_extended(a, bits)} * sign_extended(b, bits))
                                 : UnsignedWide{a} * b;
  const auto part = static_cast<std::uint64_t>(instruction.half == Half::high ? whole >> bits : whole);
  return low(part + c, instruction.half == Half::wide ? 2 * bits : bits);
}

std::uint64_t shifted_right(std::uint64_t a, std::uint64_t count, const Type& type) {
  const std::uint64_t places = std::min<std::uint64_t>(low(count, 32), type.bits);
  if (type.cls == Class::signed_integer)
    return low(static_cast<std::uint64_t>(sign_extended(a, type.bits) >> std::min<std::uint64_t>(places, 63)),
               type.bits);
  return places >= 64 ? 0 : a >> places;
}

std::uint64_t extracted(std::uint64_t a, std::uint64_t b, std::uint64_t c, const Type& type) {
  const int position = static_cast<int>(b & 255), length = std::min<int>(static_cast<int>(c & 255), type.bits);
  const bool is_signed = type.cls == Class::signed_integer;
  if (length == 0) return 0;
  const std::uint64_t field = position < type.bits ? shifted_right(a, static_cast<std::uint64_t>(position), type)
                              : is_signed && sign_extended(a, type.bits) < 0 ? ~std::uint64_t{0}
                                                                             : 0;
  return low(is_signed ? static_cast<std::uint64_t>(sign_extended(field, length)) : low(field, length), type.bits);
}

std::uint64_t integer(const Instruction& instruction, std::uint64_t a_bits, std::uint64_t b_bits, std::uint64_t c) {
  const Type& type = instruction.type;
  const int bits = type.bits;
  const bool is_signed = type.cls == Class::signed_integer;
  const std::uint64_t a = low(a_bits, bits), b = low(b_bits, bits);
  const std::int64_t signed_a = sign_extended(a, bits), signed_b = sign_extended(b, bits);
  switch (instruction.opcode) {
    case Opcode::add:
      return low(a + b, bits);
    case Opcode::sub:
      return low(a - b, bits);
    case Opcode::mul:
      return product(instruction, a, b, 0);
    case Opcode::mad:
      return product(instruction, a, b, c);
    case Opcode::div:
      if (b == 0) return low(~std::uint64_t{0}, bits);
      if (!is_signed) return a / b;
      return low(signed_b == -1 ? 0 - a : static_cast<std::uint64_t>(signed_a / signed_b), bits);
    case Opcode::rem:
      if (b == 0) return a;
      if (!is_signed) return a % b;
      return low(signed_b == -1 ? 0 : static_cast<std::uint64_t>(signed_a % signed_b), bits);
    case Opcode::min:
      return (is_signed ? signed_b < signed_a : b < a) ? b : a;
    case Opcode::max:
      return (is_signed ? signed_a < signed_b : a < b) ? b : a;
    case Opcode::neg:
      return low(0 - a, bits);
    case Opcode::abs:
      return low(signed_a < 0 ? 0 - a : a, bits);
    case Opcode::bit_and:
      return a & b;
    case Opcode::bit_or:
      return a | b;
    case Opcode::bit_xor:
      return a ^ b;
    case Opcode::bit_not:
      return low(~a, bits);
    case Opcode::shl:
      return low(b_bits, 32) >= static_cast<std::uint64_t>(bits) ? 0 : low(a << low(b_bits, 32), bits);
    case Opcode::shr:
      return shifted_right(a, b_bits, type);
    case Opcode::popc:
      return static_cast<std::uint64_t>(std::popcount(a));
    case Opcode::clz:
      return static_cast<std::uint64_t>(std::countl_zero(a) - (64 - bits));
    case Opcode::bfe:
      return extracted(a, b_bits, c, type);
    default:
      return 0;
  }
}

std::uint64_t integer_to_integer(const Instruction& instruction, std::uint64_t value) {
  const Type to = instruction.type, from = instruction.from;
  if (!instruction.saturates)
    return low(from.cls == Class::signed_integer ? static_cast<std::uint64_t>(sign_extended(value, from.bits))
                                                 : low(value, from.bits),
               to.bits);
  const Wide wide = from.cls == Class::signed_integer ? Wide{sign_extended(value, from.bits)}
                                                      : static_cast<Wide>(low(value, from.bits));
  const bool is_signed = to.cls == Class::signed_integer;
  const Wide least = is_signed ? -(Wide{1} << (to.bits - 1)) : 0;
  const Wide greatest = (Wide{1} << (to.bits - (is_signed ? 1 : 0))) - 1;
  return low(static_cast<std::uint64_t>(std::clamp(wide, least, greatest)), to.bits);
}

std::uint64_t integer_to_float(const Instruction& instruction, std::uint64_t value) {
  const Type to = instruction.type, from = instruction.from;
  const Rounding rounding = instruction.rounding == Rounding::none ? Rounding::nearest : instruction.rounding;
  const bool is_signed = from.cls == Class::signed_integer;
  const std::int64_t as_signed = sign_extended(value, from.bits);
  const std::uint64_t as_unsigned = low(value, from.bits);
  if (to.bits == 32)  // one rounding
    return bits_of(is_signed ? static_cast<float>(as_signed) : static_cast<float>(as_unsigned));
  return from_double(is_signed ? static_cast<double>(as_signed) : static_cast<double>(as_unsigned), to, rounding);
}

std::uint64_t float_to_integer(const Instruction& instruction, double value) {
  const Type to = instruction.type;
  if (std::isnan(value)) return to.bits == 64 ? std::uint64_t{1} << 63 : 0;
  const bool is_signed = to.cls == Class::signed_integer;
  const double whole = rounded_to_integer(value, instruction.rounding);
  const double least = is_signed ? -std::ldexp(1.0, to.bits - 1) : 0;
  const double beyond = std::ldexp(1.0, to.bits - (is_signed ? 1 : 0));
  if (whole < least) return is_signed ? std::uint64_t{1} << (to.bits - 1) : 0;
  if (whole >= beyond) return low(~std::uint64_t{0}, to.bits - (is_signed ? 1 : 0));
  return low(
      whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) : static_cast<std::uint64_t>(whole),
      to.bits);
}

template <class Value>
bool holds(Comparison comparison, Value a, Value b, bool is_unordered) {
  switch (comparison) {
    case Comparison::eq:
      return !is_unordered && a == b;
    case Comparison::ne:
      return !is_unordered && a != b;
    case Comparison::lt:
      return !is_unordered && a < b;
    case Comparison::le:
      return !is_unordered && a <= b;
    case Comparison::gt:
      return !is_unordered && a > b;
    case Comparison::ge:
      return !is_unordered && a >= b;
    case Comparison::equ:
      return is_unordered || a == b;
    case Comparison::neu:
      return is_unordered || a != b;
    case Comparison::ltu:
      return is_unordered || a < b;
    case Comparison::leu:
      return is_unordered || a <= b;
    case Comparison::gtu:
      return is_unordered || a > b;
    case Comparison::geu:
      return is_unordered || a >= b;
    case Comparison::num:
      return !is_unordered;
    case Comparison::nan:
      return is_unordered;
  }
  return false;
}

}  // namespace

std::uint64_t computed(const Instruction& instruction, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (instruction.opcode == Opcode::bit_not && instruction.type.cls == Class::predicate) return a == 0 ? 1 : 0;
  if (!is_floating(instruction.type)) return integer(instruction, a, b, c);
  Type lane = instruction.type;
  if (lane.lanes == 1) return float_lane(instruction, lane, a, b, c);
  lane.lanes = 1;
  const std::uint64_t low_lane = float_lane(instruction, lane, low(a, 16), low(b, 16), low(c, 16));
  return low_lane | float_lane(instruction, lane, low(a >> 16, 16), low(b >> 16, 16), low(c >> 16, 16)) << 16;
}

std::uint64_t converted(const Instruction& instruction, std::uint64_t value) {
  const Type to = instruction.type, from = instruction.from;
  if (!is_floating(from))
    return is_floating(to) ? integer_to_float(instruction, value) : integer_to_integer(instruction, value);
  double number = flushed(to_double(value, from), instruction);
  if (!is_floating(to)) return float_to_integer(instruction, number);
  if (instruction.to_integer) number = rounded_to_integer(number, instruction.rounding);
  const bool is_fp8 = to.cls == Class::fp8;
  if (instruction.saturates && !is_fp8) number = std::isnan(number) ? 0 : std::clamp(number, 0.0, 1.0);
  const Rounding rounding = instruction.rounding == Rounding::none ? Rounding::nearest : instruction.rounding;
  return from_double(flushed(number, instruction), to, rounding, is_fp8);
}

bool compared(const Instruction& instruction, Type type, std::uint64_t a, std::uint64_t b) {
  if (is_floating(type)) {
    const double x = flushed(to_double(a, type), instruction), y = flushed(to_double(b, type), instruction);
    return holds(instruction.comparison, x, y, std::isnan(x) || std::isnan(y));
  }
  if (type.cls == Class::signed_integer)
    return holds(instruction.comparison, sign_extended(a, type.bits), sign_extended(b, type.bits), false);
  return holds(instruction.comparison, low(a, type.bits), low(b, type.bits), false);
}

}  // namespace fake_cuda::ptx
