#pragma once
// Random numbers that are the same with every compiler and library: the standard fixes the numbers of std::mt19937_64,
// but not how its distributions or std::shuffle use them.

#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace tutti::sgd {

class Random {
 public:
  /// The purposes that numbers are drawn for. Each (and `number` in it, for instance the epoch) has a sequence of its
  /// own, so that training can go on at any epoch without having drawn the numbers of the epochs before.
  enum class Purpose : std::uint32_t { split, weights, order, made_up };

  Random(std::uint64_t seed, Purpose purpose, std::uint32_t number = 0) {
    std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                           static_cast<std::uint32_t>(purpose), number};
    engine_.seed(sequence);
  }

  /// Evenly from 0 <= x < bound.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t uneven = (0 - bound) % bound;  // 2^64 mod bound: below it, small remainders would come up more.
    std::uint64_t bits = engine_();
    while (bits < uneven) {
      bits = engine_();
    }
    return bits % bound;
  }

  /// Evenly from least <= x < most.
  double uniform(double least, double most) {
    const double unit = static_cast<double>(engine_() >> 11) * 0x1p-53;
    return least + (most - least) * unit;
  }

  /// Every order equally likely (Fisher and Yates).
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[below(left)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tutti::sgd
