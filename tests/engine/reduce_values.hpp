#pragma once
// Operands for the tests of reductions: values that are special in each type, arrays at any alignment, and all types.

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tutti/datatype.hpp"

namespace tutti {

inline constexpr std::byte untouched{0xa5};

template <class T>
T from_bytes(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::integral<T>) {
    return {T(0),
            T(1),
            T(-1),
            T(2),
            T(3),
            T(-7),
            T(100),
            Limits::min(),
            T(Limits::min() + 1),
            Limits::max(),
            T(Limits::max() - 1)};
  } else {
    const T nan = Limits::quiet_NaN(), infinity = Limits::infinity(), tiny = Limits::denorm_min();
    return {T(0),
            -T(0),
            T(1),
            T(-1.5),
            infinity,
            -infinity,
            nan,
            -nan,
            tiny,
            -tiny,
            3 * tiny,
            Limits::min(),
            -Limits::min(),
            Limits::min() - tiny,
            Limits::max(),
            -Limits::max(),
            1 + Limits::epsilon(),
            T(1) / 3};
  }
}

template <class T>
std::vector<T> with_bits(std::initializer_list<int> list) {
  std::vector<T> values;
  for (const int bits : list)
    values.push_back(T::from_bits(static_cast<decltype(T{}.bits())>(bits)));
  return values;
}

// +-0, 1, -1.5, infinities, NaNs, the least numbers, the ends of the subnormal ones, the largest, 1 and a bit, a third.

template <>
inline std::vector<Float8E4M3> special_values() {
  return with_bits<Float8E4M3>(
      {0x00, 0x80, 0x38, 0xbc, 0x7f, 0xff, 0x01, 0x81, 0x03, 0x08, 0x07, 0x87, 0x7e, 0xfe, 0x39, 0x2b});
}

template <>
inline std::vector<Float8E5M2> special_values() {
  return with_bits<Float8E5M2>({0x00, 0x80, 0x3c, 0xbe, 0x7c, 0xfc, 0x7e, 0xff, 0x7d, 0x01, 0x81, 0x02, 0x04, 0x03,
                                0x83, 0x7b, 0xfb, 0x3d, 0x35});
}

template <>
inline std::vector<Half> special_values() {
  return with_bits<Half>({0x0000, 0x8000, 0x3c00, 0xbe00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x0001, 0x8001,
                          0x0003, 0x0400, 0x03ff, 0x83ff, 0x7bff, 0xfbff, 0x3c01, 0x3555});
}

template <>
inline std::vector<BFloat16> special_values() {
  return with_bits<BFloat16>({0x0000, 0x8000, 0x3f80, 0xbfc0, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x0001, 0x8001,
                              0x0003, 0x0080, 0x007f, 0x807f, 0x7f7f, 0xff7f, 0x3f81, 0x3eab});
}

template <>
inline std::vector<std::complex<float>> special_values() {
  return {{0, -0.0f},     {1, 0},       {0, 1},         {INFINITY, NAN}, {NAN, 0},
          {-INFINITY, 1}, {1e-40f, -3}, {3e38f, 3e38f}, {1 / 3.0f, 0.1f}};
}

template <>
inline std::vector<std::complex<double>> special_values() {
  return {{0, -0.0},      {1, 0},       {0, 1},         {INFINITY, NAN}, {NAN, 0},
          {-INFINITY, 1}, {1e-310, -3}, {1e308, 1e308}, {1 / 3.0, 0.1}};
}

/// `count` pairs: every pair of special values if there is room, then random bit patterns; else some of both. Which
/// depends on `seed`.
template <class T>
struct Operands {
  explicit Operands(std::size_t count, std::size_t seed = 0) : lhs(count), rhs(count) {
    const std::vector<T> special = special_values<T>();
    std::mt19937_64 random{count + (seed << 32)};
    for (std::size_t i = 0; i < count; ++i) {
      const bool in_pairs = count > special.size() * special.size();
      const std::size_t pair = in_pairs ? i : random() % (2 * special.size() * special.size());
      if (pair < special.size() * special.size()) {
        lhs[i] = special[pair % special.size()];
        rhs[i] = special[pair / special.size()];
      } else {
        lhs[i] = any(random);
        rhs[i] = any(random);
      }
    }
  }

  static T any(std::mt19937_64& random) {
    const std::array<std::uint64_t, 2> bits{random(), random()};
    return from_bytes<T>(reinterpret_cast<const std::byte*>(bits.data()));
  }

  std::vector<T> lhs, rhs;
};

/// An array that starts `shift` bytes after an aligned place, with bytes around it that must stay as they are.
template <class T>
class Shifted {
 public:
  Shifted(const std::vector<T>& values, std::size_t shift)
      : begin_(64 + shift), end_(begin_ + values.size() * sizeof(T)), bytes_(end_ + 64, untouched) {
    if (!values.empty()) std::memcpy(data(), values.data(), values.size() * sizeof(T));
  }
  std::byte* data() { return bytes_.data() + begin_; }
  T operator[](std::size_t index) const { return from_bytes<T>(bytes_.data() + begin_ + index * sizeof(T)); }
  [[nodiscard]] bool only_inside() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if ((i < begin_ || i >= end_) && bytes_[i] != untouched) return false;
    }
    return true;
  }

 private:
  std::size_t begin_, end_;
  std::vector<std::byte> bytes_;
};

using ElementTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                    std::uint32_t, std::uint64_t, Float8E4M3, Float8E5M2, Half, BFloat16, float, double,
                                    std::complex<float>, std::complex<double>>;

struct TypeName {
  template <class T>
  static std::string GetName(int /*index*/) {
    return std::string{to_string(type_of<T>)};
  }
};

}  // namespace tutti
