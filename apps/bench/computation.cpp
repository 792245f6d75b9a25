#include "apps/bench/computation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tutti::bench {

namespace {

/// Each step needs the one before, so that no compiler and no processor makes them shorter.
void calculate(std::int64_t steps) {
  static volatile double start = 1.0, end = 0.0;
  double value = start;
  for (std::int64_t step = 0; step < steps; ++step) {
    value = value * 0.999 + 0.001;
  }
  end = value;
  static_cast<void>(end);
}

/// Of this processor: measured once, the quickest of a few, as a pause makes any of them look slow.
double steps_per_second() {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t steps = 200'000;
  constexpr int attempts = 9;
  double seconds = 1;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto begin = Clock::now();
    calculate(steps);
    seconds = std::min(seconds, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return static_cast<double>(steps) / seconds;
}

}  // namespace

Computation::Computation(double seconds) {
  static const double speed = steps_per_second();
  steps_ = std::llround(std::max(0.0, seconds) * speed);
}

void Computation::run() const { calculate(steps_); }

}  // namespace tutti::bench
