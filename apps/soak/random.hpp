#pragma once
// Random numbers that every rank can compute for every other rank.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace tutti::soak {

/// Mixes the bits of a number (the finalizer of splitmix64).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// One number that depends on all of the keys and on their order.
constexpr std::uint64_t mixed(std::initializer_list<std::uint64_t> keys) {
  std::uint64_t state = 0;
  for (const std::uint64_t key : keys)
    state = mixed(state ^ key);
  return state;
}

/// A sequence of random numbers that depends only on its key.
class Random {
 public:
  explicit Random(std::uint64_t key) : key_(key) {}

  std::uint64_t next() { return mixed(key_ + ++drawn_); }
  /// One of first..last. Those are at least one number.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(last - first + 1));
  }
  bool chance(int percent) { return between(0, 99) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(all.size()) - 1))];
  }
  /// 0..count-1 in random order.
  std::vector<int> order(int count) {
    std::vector<int> all;
    for (int i = 0; i < count; ++i) {
      all.push_back(i);
      std::swap(all.back(), all[static_cast<std::size_t>(between(0, i))]);
    }
    return all;
  }

 private:
  std::uint64_t key_, drawn_ = 0;
};

}  // namespace tutti::soak
