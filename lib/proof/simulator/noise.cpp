#include <cmath>
#include <stdexcept>

#include "simulate.hpp"

namespace tutti::simulator {
namespace {

/// Well mixed bits of a number: SplitMix64.
std::uint64_t mixed(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

}  // namespace

double noise_factor(const Conditions& conditions, int step, Noisy what) {
  if (conditions.noise == 0) return 1;
  constexpr std::uint64_t kinds = 4;
  const std::uint64_t number = kinds * static_cast<std::uint64_t>(step) + static_cast<std::uint64_t>(what);
  const std::uint64_t bits = mixed(mixed(conditions.seed) ^ number);
  const double uniform = (static_cast<double>(bits >> 11U) + 1) * 0x1p-53;  // in (0, 1]
  return 1 - conditions.noise * std::log(uniform);
}

Time in_time(double microseconds, double count) {
  constexpr double picoseconds = 1e6, most = static_cast<double>(longest_time);
  const double time = std::round(microseconds * count * picoseconds);
  if (!(time >= 0 && time < most)) throw std::logic_error("simulation: a step takes longer than can be counted");
  return static_cast<Time>(time);
}

}  // namespace tutti::simulator
