#pragma once
// Several elements in one register: the compiler's vector extension (GCC, Clang), which takes the operators of the
// elements, lane by lane, on every processor. The code here for lanes also holds for one element, which is
// `Lanes<T, 1>`; C++17 and no function of the standard library, as device code needs.
//
// The namespace is unnamed for the reason given in convert.hpp.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace tutti {
namespace {

template <class T, std::size_t lanes>
struct MakeLanes {
  using Type [[gnu::vector_size(lanes * sizeof(T))]] = T;
};
template <class T>
struct MakeLanes<T, 1> {
  using Type = T;
};
template <class T, std::size_t lanes>
using Lanes = typename MakeLanes<T, lanes>::Type;

/// The type of a lane: the type itself, for one element.
template <class V, class = void>
struct MakeLane {
  using Type = V;
};
template <class V>
struct MakeLane<V, std::void_t<decltype(std::declval<V&>()[0])>> {
  using Type = std::decay_t<decltype(std::declval<V&>()[0])>;
};
template <class V>
using Lane = typename MakeLane<V>::Type;
template <class V>
constexpr std::size_t lane_count = sizeof(V) / sizeof(Lane<V>);

/// As many lanes of another type.
template <class T, class V>
using Retyped = Lanes<T, lane_count<V>>;

/// The bits of a value as another type.
template <class To, class From>
constexpr To cast(From value) {
  return __builtin_bit_cast(To, value);
}
constexpr std::uint32_t bits_of(float value) { return cast<std::uint32_t>(value); }

/// A vector with the value in every lane.
template <class V>
constexpr V same(Lane<V> value) {
  return V{} + value;
}

/// Every lane's value in another type, as static_cast.
template <class To, class From>
constexpr Retyped<To, From> convert(From value) {
  if constexpr (lane_count<From> == 1) {
    return static_cast<To>(value);
  } else {
    return __builtin_convertvector(value, Retyped<To, From>);
  }
}

}  // namespace
}  // namespace tutti
