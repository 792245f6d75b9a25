#include "values.hpp"

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>

#include "random.hpp"
#include "tutti/algorithm.hpp"
#include "types.hpp"

namespace tutti::differential {
namespace {

constexpr bool is_logical(Op::Kind kind) { return kind >= Op::Kind::land && kind <= Op::Kind::lxor; }

template <class T>
constexpr bool is_fp8 = std::same_as<T, Float8E4M3> || std::same_as<T, Float8E5M2>;

/// A whole number of at most `largest`, negative or not.
double whole(std::uint64_t bits, std::uint64_t largest) {
  return static_cast<double>(bits % (2 * largest + 1)) - static_cast<double>(largest);
}

/// Of so few bits that the sum over the ranks is exact.
template <class T>
double addend(std::uint64_t bits) {
  if constexpr (std::same_as<T, double>)
    return whole(bits, std::uint64_t{1} << 40U);
  else if constexpr (std::same_as<T, float>)
    return whole(bits, 1U << 15U);
  else
    return whole(bits, is_fp8<T> ? 1 : 15);
}

/// 1/2, 1 or 2, negative or not.
double factor(std::uint64_t bits) { return std::ldexp(bits % 2 == 0 ? 1 : -1, static_cast<int>(bits / 2 % 3) - 1); }

/// `by_mpi`: the MPI combines them, too. Sums of 8 and 16 bits that are larger than their type saturate in Open
/// MPI 4.1, and MPICH 4.0 takes the upper half of unsigned numbers for negative ones in min and max.
template <std::integral T>
T operand(Op::Kind kind, std::uint64_t bits, bool by_mpi) {
  if (is_logical(kind) && bits % 2 == 0) return 0;
  constexpr std::uint64_t most_ranks = 17, largest = std::numeric_limits<T>::max() / most_ranks;
  const bool compares = kind == Op::Kind::min || kind == Op::Kind::max;
  if (by_mpi && kind == Op::Kind::sum && sizeof(T) <= 2) return static_cast<T>((bits >> 8U) % largest);
  if (by_mpi && compares && std::unsigned_integral<T>)
    return static_cast<T>(bits >> 8U) & (std::numeric_limits<T>::max() / 2);
  return static_cast<T>(bits >> 8U);
}

template <class T>
requires(!std::integral<T>) T operand(Op::Kind kind, std::uint64_t bits, bool /*by_mpi*/) {
  if constexpr (is_complex(type_of<T>)) {
    using Part = typename T::value_type;
    // No part of a product of these is 0, whose sign would depend on the order.
    if (kind == Op::Kind::prod) return {static_cast<Part>(factor(bits)), static_cast<Part>(2 * factor(bits))};
    return {static_cast<Part>(addend<Part>(bits)), static_cast<Part>(addend<Part>(mixed(bits)))};
  } else {
    const double value = kind == Op::Kind::prod                           ? factor(bits)
                         : kind == Op::Kind::min || kind == Op::Kind::max ? whole(bits, 2000) / 8
                                                                          : addend<T>(bits);
    if constexpr (std::same_as<T, double>)
      return value;
    else
      return static_cast<T>(static_cast<float>(value));
  }
}

/// Any bytes; or, as the maps of the user's operation that does not commute, those that can be inverted.
ByteVector random_bytes(std::uint64_t key, std::size_t first, std::size_t bytes, bool are_maps) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  const std::size_t skipped = first % word;
  ByteVector data((skipped + bytes + word - 1) / word * word);
  for (std::size_t i = 0; i < data.size(); i += word) {
    std::uint64_t bits = mixed(key + (first + i) / word);
    if (are_maps) bits |= 0x1010101010101010U;
    std::memcpy(data.data() + i, &bits, word);
  }
  data.erase(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(skipped));
  data.resize(bytes);
  return data;
}

/// fp8 holds whole numbers up to 8, and powers of 2 from 1/256 to 256: in an element of a sum or a product, no more
/// than 8 ranks have anything.
bool is_left_out(const Call& call, int rank, std::int64_t element) {
  const bool compares = call.op.kind() == Op::Kind::min || call.op.kind() == Op::Kind::max;
  return !compares && (rank + element) % ((call.size + 7) / 8) != 0;
}

template <class T>
ByteVector operands(const Call& call, std::uint64_t key, int rank, std::int64_t first, std::int64_t count) {
  ByteVector data(static_cast<std::size_t>(count) * sizeof(T));
  for (std::int64_t i = 0; i < count; ++i) {
    T value = operand<T>(call.op.kind(), mixed(key + static_cast<std::uint64_t>(first + i)), call.by_mpi);
    if constexpr (is_fp8<T>)
      if (is_left_out(call, rank, first + i)) value = T{call.op.kind() == Op::Kind::prod ? 1.0f : 0.0f};
    std::memcpy(data.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
  return data;
}

}  // namespace

ByteVector input_of(const Call& call, int repetition, int rank, std::int64_t first, std::int64_t count) {
  const std::uint64_t key =
      mixed({call.key, 0xda7a, static_cast<std::uint64_t>(repetition), static_cast<std::uint64_t>(rank)});
  const bool combines = call.kind == Kind::collective && reduces(call.collective);
  if (combines && call.op.kind() != Op::Kind::user)
    return with_type(call.type, [&]<class T>() { return operands<T>(call, key, rank, first, count); });
  const auto element = static_cast<std::size_t>(size_of(call.type).value());
  return random_bytes(key, static_cast<std::size_t>(first) * element, static_cast<std::size_t>(count) * element,
                      combines && !call.op.commutative());
}

}  // namespace tutti::differential
