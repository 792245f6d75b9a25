// exp, log and tanh against the C++ library's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "apps/sgd/elementary.hpp"

namespace tutti::sgd {
namespace {

template <class T>
class Elementary : public testing::Test {
 protected:
  using Limits = std::numeric_limits<T>;

  /// The error of `found`, in units in the last place of what long double has.
  static double error(T found, long double expected) {
    const T rounded = static_cast<T>(expected);
    const T unit = std::nextafter(std::abs(rounded), Limits::infinity()) - std::abs(rounded);
    return static_cast<double>(std::abs(static_cast<long double>(found) - expected) / unit);
  }
  /// The largest error for 100,000 arguments from `least` to `most`.
  template <class Ours, class Theirs>
  static double largest_error(const Ours& ours, const Theirs& theirs, T least, T most) {
    constexpr int steps = 100'000;
    double worst = 0;
    for (int i = 0; i <= steps; ++i) {
      const T x = least + (most - least) * static_cast<T>(i) / steps;
      worst = std::max(worst, error(ours(x), theirs(static_cast<long double>(x))));
    }
    return worst;
  }
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Elementary, Types);

TYPED_TEST(Elementary, ExpIsThatOfTheLibrary) {
  using T = TypeParam;
  const auto ours = [](T x) { return sgd::exp(x); };
  const auto theirs = [](long double x) { return std::exp(x); };
  constexpr T least = detail::Format<T>::least_exponent, most = detail::Format<T>::most_exponent;
  EXPECT_LE(this->largest_error(ours, theirs, -1, 1), 2);
  EXPECT_LE(this->largest_error(ours, theirs, -20, 20), 2);
  EXPECT_LE(this->largest_error(ours, theirs, least, most), 2);
}

TYPED_TEST(Elementary, TanhIsThatOfTheLibrary) {
  using T = TypeParam;
  const auto ours = [](T x) { return sgd::tanh(x); };
  const auto theirs = [](long double x) { return std::tanh(x); };
  EXPECT_LE(this->largest_error(ours, theirs, -1, 1), 4);
  EXPECT_LE(this->largest_error(ours, theirs, -25, 25), 4);
  EXPECT_LE(this->largest_error(ours, theirs, 0, T(1e-5)), 4);
}

TYPED_TEST(Elementary, LogIsThatOfTheLibrary) {
  using T = TypeParam;
  const auto ours = [](T x) { return sgd::log(x); };
  const auto theirs = [](long double x) { return std::log(x); };
  EXPECT_LE(this->largest_error(ours, theirs, T(0.01), 2), 3);
  EXPECT_LE(this->largest_error(ours, theirs, 1, 100'000), 3);
}

TYPED_TEST(Elementary, KnowTheirEnds) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  EXPECT_EQ(sgd::exp(T(0)), T(1));
  EXPECT_EQ(sgd::exp(-Limits::infinity()), T(0));
  EXPECT_EQ(sgd::exp(Limits::lowest()), T(0));
  EXPECT_EQ(sgd::exp(Limits::infinity()), Limits::infinity());
  EXPECT_EQ(sgd::exp(Limits::max()), Limits::infinity());
  EXPECT_EQ(sgd::log(T(1)), T(0));
  EXPECT_EQ(sgd::log(Limits::infinity()), Limits::infinity());
  EXPECT_EQ(sgd::tanh(T(0)), T(0));
  EXPECT_EQ(sgd::tanh(Limits::max()), T(1));
  EXPECT_EQ(sgd::tanh(-Limits::infinity()), T(-1));
  for (const T none : {sgd::exp(Limits::quiet_NaN()), sgd::log(Limits::quiet_NaN()), sgd::tanh(Limits::quiet_NaN())})
    EXPECT_TRUE(std::isnan(none));
}

static_assert(exp(0.0) == 1 && log(1.0F) == 0 && tanh(0.0) == 0, "they are constant expressions");

}  // namespace
}  // namespace tutti::sgd
