#pragma once
// Common parts of the proofs of all algorithms.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "lib/proof/checker/prove.hpp"
#include "lib/proof/checker/suite.hpp"

namespace tutti::checker {

/// The totals of all proofs of the program; reported at its end.
class Totals : public testing::Environment {
 public:
  static void add(const Verdict& verdict) {
    ++problems, schedules += verdict.costs.size(), steps += verdict.steps;
    if (!verdict.proved()) ++failed;
  }
  void SetUp() override { begin_ = std::chrono::steady_clock::now(); }
  void TearDown() override {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
    fmt::print("proved: {} problems ({} schedules, {} steps), {} failed, {:.1f} s\n", problems, schedules, steps,
               failed, seconds.count());
  }

 private:
  static inline std::size_t problems = 0, schedules = 0, steps = 0, failed = 0;
  std::chrono::steady_clock::time_point begin_;
};
inline const auto* const totals = testing::AddGlobalTestEnvironment(new Totals);

inline std::string name_of(const Algorithm& algorithm) {
  return fmt::format("{}_{}", to_string(algorithm.collective), algorithm.name);
}

inline void expect_proved(const Algorithm& algorithm, const Case& what) {
  const Verdict verdict = prove(algorithm, what);
  Totals::add(verdict);
  EXPECT_TRUE(verdict.proved()) << fmt::format("{}, {}: {}", name_of(algorithm), to_text(what), verdict.fault);
}

}  // namespace tutti::checker
