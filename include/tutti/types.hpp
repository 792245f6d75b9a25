#pragma once
// The numbers in collectives and messages, each with a type of its own, so that a count is never taken for a rank.

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>

namespace tutti {

/// A process of a communicator, 0 <= value < size. Converting to and from `int` is explicit.
class Rank {
 public:
  constexpr Rank() = default;
  constexpr explicit Rank(int value) : value_(value) {}
  [[nodiscard]] constexpr int value() const { return value_; }
  constexpr auto operator<=>(const Rank&) const = default;

 private:
  int value_ = 0;
};

/// A number that a message carries, 0 to 2^31 - 1. Converting to and from `int` is explicit.
class Tag {
 public:
  constexpr Tag() = default;
  constexpr explicit Tag(int value) : value_(value) {}
  [[nodiscard]] constexpr int value() const { return value_; }
  constexpr auto operator<=>(const Tag&) const = default;

 private:
  int value_ = 0;
};

/// A 64-bit signed amount of one unit. Amounts of different units do not mix.
template <class Unit>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(std::integral auto value) : value_(static_cast<std::int64_t>(value)) {}
  [[nodiscard]] constexpr std::int64_t value() const { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.value_ + b.value_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.value_ - b.value_}; }
  friend constexpr Quantity operator*(std::int64_t times, Quantity a) { return Quantity{times * a.value_}; }
  friend constexpr Quantity operator/(Quantity a, std::int64_t parts) { return Quantity{a.value_ / parts}; }
  friend constexpr Quantity operator%(Quantity a, std::int64_t parts) { return Quantity{a.value_ % parts}; }

 private:
  std::int64_t value_ = 0;
};

using Count = Quantity<struct CountUnit>;  ///< Elements.
using Bytes = Quantity<struct BytesUnit>;

}  // namespace tutti
