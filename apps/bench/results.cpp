// The results of reductions.
#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <cstring>
#include <vector>

#include "apps/bench/values.hpp"

namespace tutti::bench {
namespace {

// No step is rounded (values.cpp), so that float is as good as the types of 16 and 8 bits.

template <class T>
constexpr bool is_narrow = !std::integral<T> && sizeof(T) <= 2;

template <class T>
auto widened(T value) {
  if constexpr (is_narrow<T>)
    return static_cast<float>(value);
  else
    return value;
}

template <std::integral T>
T combined(Op::Kind kind, T a, T b) {
  using Kind = Op::Kind;
  // Unsigned numbers of 64 bits wrap around, and so do the parts that the type holds.
  const std::uint64_t x{static_cast<std::make_unsigned_t<T>>(a)}, y{static_cast<std::make_unsigned_t<T>>(b)};
  switch (kind) {
    case Kind::prod:
      return static_cast<T>(x * y);
    case Kind::min:
      return std::min(a, b);
    case Kind::max:
      return std::max(a, b);
    case Kind::land:
      return T{a != 0 && b != 0};
    case Kind::lor:
      return T{a != 0 || b != 0};
    case Kind::lxor:
      return T{(a != 0) != (b != 0)};
    case Kind::band:
      return static_cast<T>(x & y);
    case Kind::bor:
      return static_cast<T>(x | y);
    case Kind::bxor:
      return static_cast<T>(x ^ y);
    default:
      return static_cast<T>(x + y);
  }
}

template <std::floating_point T>
T combined(Op::Kind kind, T a, T b) {
  if (kind == Op::Kind::prod) return a * b;
  if (kind == Op::Kind::min) return std::min(a, b);
  return kind == Op::Kind::max ? std::max(a, b) : a + b;
}

template <class Part>
std::complex<Part> combined(Op::Kind kind, std::complex<Part> a, std::complex<Part> b) {
  if (kind != Op::Kind::prod) return a + b;
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// The division of avg and the factor of scaled_sum.
template <class T>
T finished(const Op& op, int size, T value) {
  if constexpr (std::integral<T>) {
    if (op.kind() != Op::Kind::avg) return value;
    using Wide = std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>(Wide{value} / static_cast<Wide>(size));
  } else if constexpr (std::floating_point<T>) {
    if (op.kind() == Op::Kind::avg) return value / static_cast<T>(size);
    return op.kind() == Op::Kind::scaled_sum ? value * static_cast<T>(op.scale()) : value;
  } else {
    return {finished(op, size, value.real()), finished(op, size, value.imag())};
  }
}

template <class T>
T element_at(std::span<const std::byte> data, std::size_t i) {
  T value;
  std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void write_reduced(const Operands& operands, const Source& from, std::span<std::byte> into) {
  using Wide = decltype(widened(T{}));
  const Op& op = operands.op;
  const bool is_boolean = operands.type == Type::boolean;
  const Op::Kind kind = is_boolean ? detail::of_booleans(op.kind()).value_or(op.kind()) : op.kind();
  std::vector<std::byte> data(into.size());
  std::vector<Wide> all(into.size() / sizeof(T));
  for (int i = 0; i < from.ranks; ++i) {
    write_input(operands, from.first_rank + i, from.first, data);
    for (std::size_t at = 0; at < all.size(); ++at) {
      const Wide value = widened(element_at<T>(data, at));
      all[at] = i == 0 ? value : combined(kind, all[at], value);
    }
  }
  for (std::size_t at = 0; at < all.size(); ++at) {
    const T value{finished(op, operands.ranks, all[at])};
    std::memcpy(into.data() + at * sizeof(T), &value, sizeof(T));
  }
}

/// lhs (+) rhs of one byte.
template <Commutative commutative>
constexpr unsigned char combined(unsigned char lhs, unsigned char rhs) {
  if (commutative == Commutative::yes) return static_cast<unsigned char>(lhs + rhs);
  const unsigned a = lhs >> 4U, b = lhs & 15U, c = rhs >> 4U, d = rhs & 15U;
  return static_cast<unsigned char>(((a * c) & 15U) << 4U | ((a * d + b) & 15U));
}

/// The bytes of an element, by type: a function's context points to one of them.
std::array<std::int64_t, type_count> make_sizes() {
  std::array<std::int64_t, type_count> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = size_of(static_cast<Type>(i)).value();
  return sizes;
}
std::array<std::int64_t, type_count> element_sizes = make_sizes();

template <Commutative commutative>
void combine(const void* lhs, const void* rhs, void* into, Count count, void* context) {
  const auto* const a = static_cast<const unsigned char*>(lhs);
  const auto* const b = static_cast<const unsigned char*>(rhs);
  auto* const result = static_cast<unsigned char*>(into);
  const std::int64_t bytes = count.value() * *static_cast<const std::int64_t*>(context);
  for (std::int64_t i = 0; i < bytes; ++i)
    result[i] = combined<commutative>(a[i], b[i]);
}

void write_users_result(const Operands& operands, const Source& from, std::span<std::byte> into) {
  const auto by = operands.op.commutative() ? combine<Commutative::yes> : combine<Commutative::no>;
  std::int64_t element = size_of(operands.type).value();
  const Count count{static_cast<std::int64_t>(into.size()) / element};
  std::vector<std::byte> data(into.size());
  write_input(operands, from.first_rank, from.first, into);
  for (int i = 1; i < from.ranks; ++i) {
    write_input(operands, from.first_rank + i, from.first, data);
    by(into.data(), data.data(), into.data(), count, &element);
  }
}

}  // namespace

Op user_op(Commutative commutative, Type type) {
  void* const size = &element_sizes[static_cast<std::size_t>(type)];
  return Op::user(commutative == Commutative::yes ? combine<Commutative::yes> : combine<Commutative::no>, commutative,
                  size);
}

void write_result(const Operands& operands, const Source& from, std::span<std::byte> into) {
  if (!operands.combines) return write_input(operands, from.first_rank, from.first, into);
  const auto of_period = static_cast<std::size_t>(period * size_of(operands.type).value());
  const std::span once = into.first(std::min(into.size(), of_period));
  if (operands.op.kind() == Op::Kind::user)
    write_users_result(operands, from, once);
  else
    with_type(operands.type, [&]<class T>() { write_reduced<T>(operands, from, once); });
  repeat(into, once.size());
}

}  // namespace tutti::bench
