#include "apps/bench/values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

namespace tutti::bench {
namespace {

constexpr bool is_logical(Op::Kind kind) { return kind >= Op::Kind::land && kind <= Op::Kind::lxor; }
constexpr bool compares(Op::Kind kind) { return kind == Op::Kind::min || kind == Op::Kind::max; }

/// A whole number of at most `largest`, negative or not.
double whole(std::uint64_t bits, std::uint64_t largest) {
  return static_cast<double>(bits % (2 * largest + 1)) - static_cast<double>(largest);
}

/// The largest addend, and how many of them have an exact sum.
struct Addends {
  std::uint64_t largest;
  int number;
};
constexpr Addends addends_of(Type type) {
  switch (type) {
    case Type::fp8_e4m3:
    case Type::fp8_e5m2:
      return {1, 8};
    case Type::bf16:
      return {15, 17};
    case Type::fp16:
      return {15, 128};
    case Type::fp32:
    case Type::complex_fp32:
      return {1U << 15U, 512};
    default:
      return {std::uint64_t{1} << 40U, 8192};
  }
}

/// Sums of 8 and 16 bits that are larger than their type saturate in Open MPI 4.1: as many ranks have operands.
constexpr int operands_of_narrow_sums = 42;
bool is_narrow_sum(const Operands& of) {
  return of.by_mpi && of.op.kind() == Op::Kind::sum && is_integer(of.type) && size_of(of.type) <= Bytes{2};
}

/// The ranks that have anything in one element of a call, where more would not be exact. Products are of powers of two
/// up to 2, which are exact in every type for eight ranks.
int most_operands(const Operands& of) {
  if (is_narrow_sum(of)) return std::min(of.ranks, operands_of_narrow_sums);
  if (is_integer(of.type) || of.type == Type::boolean || compares(of.op.kind())) return of.ranks;
  return of.op.kind() == Op::Kind::prod ? 8 : addends_of(of.type).number;
}

/// 1/2, 1 or 2, negative or not.
double factor(std::uint64_t bits) { return std::ldexp(bits % 2 == 0 ? 1 : -1, static_cast<int>(bits / 2 % 3) - 1); }

/// MPICH 4.0 takes the upper half of unsigned numbers for negative ones in min and max.
template <std::integral T>
T operand(const Operands& of, std::uint64_t bits) {
  if (of.type == Type::boolean) return bits % 2;
  const Op::Kind kind = of.op.kind();
  if (is_logical(kind) && bits % 2 == 0) return 0;
  constexpr std::uint64_t largest = std::numeric_limits<T>::max();
  if (is_narrow_sum(of))
    return static_cast<T>((bits >> 8U) % (largest / static_cast<std::uint64_t>(most_operands(of)) + 1));
  if (of.by_mpi && compares(kind) && std::unsigned_integral<T>) return static_cast<T>(bits >> 8U) & (largest / 2);
  return static_cast<T>(bits >> 8U);
}

template <class T>
requires(!std::integral<T>) T operand(const Operands& of, std::uint64_t bits) {
  const Op::Kind kind = of.op.kind();
  const std::uint64_t largest = addends_of(of.type).largest;
  if constexpr (is_complex(type_of<T>)) {
    using Part = typename T::value_type;
    // No part of a product of these is 0, whose sign would depend on the order.
    if (kind == Op::Kind::prod) return {static_cast<Part>(factor(bits)), static_cast<Part>(2 * factor(bits))};
    return {static_cast<Part>(whole(bits, largest)), static_cast<Part>(whole(mixed(bits), largest))};
  } else {
    const double value = kind == Op::Kind::prod ? factor(bits)
                         : compares(kind)       ? whole(bits, 2000) / 8
                                                : whole(bits, largest);
    if constexpr (std::same_as<T, double>)
      return value;
    else
      return static_cast<T>(static_cast<float>(value));
  }
}

/// The operand that changes nothing, of types that are not integers.
template <class T>
T neutral(Op::Kind kind) {
  const float value = kind == Op::Kind::prod ? 1.0F : 0.0F;
  if constexpr (std::integral<T>)
    return T{};
  else if constexpr (is_complex(type_of<T>))
    return T{value, 0};
  else
    return static_cast<T>(value);
}

/// Elements first..first+count-1, all within one period.
template <class T>
void write_operands(const Operands& of, std::uint64_t key, int rank, std::int64_t first, std::span<std::byte> into) {
  const int stride = (of.ranks + most_operands(of) - 1) / most_operands(of);
  for (std::size_t at = 0; at < into.size(); at += sizeof(T), ++first) {
    const std::int64_t element = first % period;
    const T value = (rank + element) % stride == 0 ? operand<T>(of, mixed(key + static_cast<std::uint64_t>(element)))
                                                   : neutral<T>(of.op.kind());
    std::memcpy(into.data() + at, &value, sizeof(T));
  }
}

/// Any bytes; or, as the maps of the user's operation that does not commute, those that can be inverted.
void write_bytes(std::uint64_t key, std::size_t first, std::size_t bytes_of_period, std::span<std::byte> into,
                 bool are_maps) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  for (std::size_t done = 0; done < into.size();) {
    const std::size_t at = (first + done) % bytes_of_period, skipped = at % word;
    std::uint64_t bits = mixed(key + at / word);
    if (are_maps) bits |= 0x1010101010101010U;
    const std::size_t some = std::min({word - skipped, into.size() - done, bytes_of_period - at});
    std::memcpy(into.data() + done, reinterpret_cast<const std::byte*>(&bits) + skipped, some);
    done += some;
  }
}

}  // namespace

void repeat(std::span<std::byte> data, std::size_t known) {
  while (known < data.size()) {
    const std::size_t some = std::min(known, data.size() - known);
    std::memcpy(data.data() + known, data.data(), some);
    known += some;
  }
}

void write_input(const Operands& operands, int rank, std::int64_t first, std::span<std::byte> into) {
  if (into.empty()) return;
  const std::uint64_t key = mixed(operands.key ^ static_cast<std::uint64_t>(rank));
  const auto element = static_cast<std::size_t>(size_of(operands.type).value());
  const std::size_t of_period = static_cast<std::size_t>(period) * element;
  const std::span once = into.first(std::min(into.size(), of_period));
  const bool is_users = operands.op.kind() == Op::Kind::user;
  if (operands.combines && !is_users)
    with_type(operands.type, [&]<class T>() { write_operands<T>(operands, key, rank, first, once); });
  else
    write_bytes(key, static_cast<std::size_t>(first) * element, of_period, once,
                operands.combines && !operands.op.commutative());
  repeat(into, once.size());
}

}  // namespace tutti::bench
