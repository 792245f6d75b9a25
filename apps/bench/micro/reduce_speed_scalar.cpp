#include <array>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "apps/bench/micro/reduce_speed.hpp"
#include "lib/reduce/convert.hpp"
#include "lib/reduce/convert_fp8.hpp"

namespace tutti {
namespace {

template <class T>
T add(T a, T b) {
  if constexpr (std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>) {
    using Format = std::conditional_t<std::is_same_v<T, Float8E4M3>, E4m3, E5m2>;
    const float sum = fp8_to_float<Format>(std::uint32_t{a.bits()}) + fp8_to_float<Format>(std::uint32_t{b.bits()});
    return T::from_bits(static_cast<std::uint8_t>(float_to_fp8<Format>(sum)));
  } else if constexpr (std::is_same_v<T, Half>) {
    const float sum = half_to_float(std::uint32_t{a.bits()}) + half_to_float(std::uint32_t{b.bits()});
    return Half::from_bits(static_cast<std::uint16_t>(float_to_half(sum)));
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    const float sum = bfloat_to_float(std::uint32_t{a.bits()}) + bfloat_to_float(std::uint32_t{b.bits()});
    return BFloat16::from_bits(static_cast<std::uint16_t>(float_to_bfloat(sum)));
  } else {
    return static_cast<T>(a + b);
  }
}

template <class T>
void sum(const void* lhs, const void* rhs, void* into, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<T*>(into)[i] = add(static_cast<const T*>(lhs)[i], static_cast<const T*>(rhs)[i]);
}

template <class... T>
constexpr std::array<ScalarSum, sizeof...(T)> sums{sum<T>...};

}  // namespace

ScalarSum scalar_sum(Type type) {
  constexpr const auto& all = sums<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                   std::uint32_t, std::uint64_t, Float8E4M3, Float8E5M2, Half, BFloat16, float, double,
                                   std::complex<float>, std::complex<double>>;
  static_assert(all.size() == static_cast<std::size_t>(Type::boolean));
  return all.at(static_cast<std::size_t>(type));
}

}  // namespace tutti
