#pragma once
// Random numbers that every rank can compute for every other rank; the values that ranks give to calls, and those that
// they must receive: all functions of keys that every rank knows. All results of reductions are exact, in any order of
// the operands.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti::bench {

/// Mixes the bits of a number (the finalizer of splitmix64).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// One number that depends on all of the keys and on their order.
constexpr std::uint64_t mixed(std::initializer_list<std::uint64_t> keys) {
  std::uint64_t state = 0;
  for (const std::uint64_t key : keys)
    state = mixed(state ^ key);
  return state;
}

/// A sequence of random numbers that depends only on its key.
class Random {
 public:
  explicit Random(std::uint64_t key) : key_(key) {}

  std::uint64_t next() { return mixed(key_ + ++drawn_); }
  /// One of first..last. Those are at least one number.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(all.size()) - 1))];
  }
  /// 0..count-1 in random order.
  std::vector<int> order(int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(i);
      std::swap(all.back(), all[static_cast<std::size_t>(between(0, i))]);
    }
    return all;
  }

 private:
  std::uint64_t key_, drawn_ = 0;
};

/// A call, as far as its values depend on it.
struct Operands {
  Type type = Type::uint8;
  Op op = Op::sum;
  bool combines = false;  ///< Else elements are only moved.
  int ranks = 1;
  bool by_mpi = false;  ///< The MPI combines them, too.
  std::uint64_t key = 0;
};

/// The origin of elements that a rank holds or receives. Elements of an input are numbered through its blocks, without
/// gaps.
struct Source {
  int first_rank, ranks;  ///< The ranks whose elements they are; those of several are combined in their order.
  std::int64_t first;     ///< The number of the first one.
};

/// Values recur after so many elements, a prime, so that they and their sums cost little more than copies.
inline constexpr std::int64_t period = 1021;

/// Writes the input of `rank` from element `first` on, as many as there is room for. Other `rank`s than those of the
/// call give values that no rank has.
void write_input(const Operands& operands, int rank, std::int64_t first, std::span<std::byte> into);

/// Writes the elements of one origin, as many as there is room for, computed without the library's reductions or the
/// MPI.
void write_result(const Operands& operands, const Source& from, std::span<std::byte> into);

/// Fills the rest of `data`, which has `known` bytes, by repeating those.
void repeat(std::span<std::byte> data, std::size_t known);

/// A user's operation for elements of any type, taken as bytes. Commutative: bytes are added, modulo 256. Not
/// commutative: each byte is a map x -> a * x + b modulo 16, with a in the upper and b in the lower four bits; maps are
/// composed.
[[nodiscard]] Op user_op(Commutative commutative, Type type);

/// Returns visit.operator()<T>() with the C++ type of `type`; of boolean the bytes that hold 0 or 1.
template <class Visit>
auto with_type(Type type, Visit visit) {
  switch (type) {
    case Type::int8:
      return visit.template operator()<std::int8_t>();
    case Type::int16:
      return visit.template operator()<std::int16_t>();
    case Type::int32:
      return visit.template operator()<std::int32_t>();
    case Type::int64:
      return visit.template operator()<std::int64_t>();
    case Type::uint8:
    case Type::boolean:
      return visit.template operator()<std::uint8_t>();
    case Type::uint16:
      return visit.template operator()<std::uint16_t>();
    case Type::uint32:
      return visit.template operator()<std::uint32_t>();
    case Type::uint64:
      return visit.template operator()<std::uint64_t>();
    case Type::fp8_e4m3:
      return visit.template operator()<Float8E4M3>();
    case Type::fp8_e5m2:
      return visit.template operator()<Float8E5M2>();
    case Type::fp16:
      return visit.template operator()<Half>();
    case Type::bf16:
      return visit.template operator()<BFloat16>();
    case Type::fp32:
      return visit.template operator()<float>();
    case Type::fp64:
      return visit.template operator()<double>();
    case Type::complex_fp32:
      return visit.template operator()<std::complex<float>>();
    default:
      return visit.template operator()<std::complex<double>>();
  }
}

}  // namespace tutti::bench
