// What a record costs a call: the time of an entry and an exit, in a journal that is in the caches, and between work
// that uses them.
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/records/recorder.hpp"

namespace {

using namespace tutti;

constexpr int calls = 1'000'000;

double nanoseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::nano>(time).count() / calls;
}

/// Per call; `between()` is the work between two.
template <class Between>
double time_of(records::Recorder* recorder, const records::Packed& call, const Between& between) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t sequence = 0; sequence < calls; ++sequence) {
    if (recorder != nullptr)
      recorder->leave(recorder->enter(call, sequence, records::Manner::blocking), records::State::over);
    between(sequence);
  }
  return nanoseconds(std::chrono::steady_clock::now() - start);
}

}  // namespace

int main() {
  records::Recorder recorder;
  const records::Packed call = records::pack({.action = records::Action::allreduce, .count = 1, .ranks = 2});
  std::vector<std::uint64_t> data(std::size_t{64} * 1024 / sizeof(std::uint64_t));  // more than a first-level cache
  const auto nothing = [](std::uint64_t) { asm volatile("" ::: "memory"); };
  const auto sweep = [&](std::uint64_t number) {
    for (std::size_t i = number % 64; i < data.size(); i += 64)
      data[i] += number;
  };
  for (int round = 0; round < 3; ++round) {
    const double empty = time_of(nullptr, call, nothing), alone = time_of(&recorder, call, nothing);
    const double swept = time_of(nullptr, call, sweep), beside = time_of(&recorder, call, sweep);
    fmt::print("a record takes {:.1f} ns; between work on {} KiB {:.1f} ns\n", alone - empty,
               data.size() * sizeof(data[0]) / 1024, beside - swept);
  }
}
