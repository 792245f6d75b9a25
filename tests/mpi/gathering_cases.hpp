#pragma once
// What the tests of sums that combine all operands of an element at once have in common.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tutti/algorithm.hpp"

namespace tutti::test {

/// To the bit.
template <class T>
testing::AssertionResult same(std::span<const T> a, std::span<const T> b) {
  const auto [x, y] =
      std::ranges::mismatch(a, b, [](const T& l, const T& r) { return std::memcmp(&l, &r, sizeof(T)) == 0; });
  if (x == a.end() && y == b.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "element " << x - a.begin() << " differs";
}

/// The algorithms that bring all operands of an element together, with segments and other parameters; empty: Tutti
/// chooses.
inline std::vector<std::string> choices(Collective collective) {
  std::vector<std::string> names{""};
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != collective || !algorithm->gathers) continue;
    names.emplace_back(algorithm->name);
    names.push_back(std::string{algorithm->name} + "/256");
    if (algorithm->parameter.name == "radix") names.push_back(std::string{algorithm->name} + ":3");
  }
  return names;
}

}  // namespace tutti::test
