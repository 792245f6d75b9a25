#pragma once
// Memory, streams and measurements of a process that asks; what it makes lasts as long as the process.

#include <cuda.h>

#include <vector>

#include "tests/gpu/functions.hpp"
#include "tests/gpu/questions.hpp"

namespace tutti::gpu {

[[nodiscard]] CUdeviceptr device_memory(std::int64_t bytes);
[[nodiscard]] CUdeviceptr pinned_memory(std::int64_t bytes);
[[nodiscard]] CUstream new_stream();
[[nodiscard]] CUevent new_event(unsigned flags = CU_EVENT_DISABLE_TIMING);
/// Between any two kinds of memory; queued.
void copy(CUdeviceptr to, CUdeviceptr from, std::int64_t bytes, CUstream stream);
void finish(CUstream stream);
/// Records the event in the stream, and asks for it until it has come, as the library does.
void poll(CUevent event, CUstream stream);
/// A kernel of one thread that does nothing.
[[nodiscard]] CUfunction empty_kernel();
void launch(CUfunction kernel, CUstream stream);

/// Sizes of copies, from 8 bytes on, each 8 times the one before.
[[nodiscard]] std::vector<std::int64_t> sizes(const Effort& effort);
/// How often an operation on so many bytes is repeated in a round.
[[nodiscard]] int repetitions(std::int64_t bytes, const Effort& effort);

/// Seconds of one call of `work`: the median over rounds of `repetitions` calls, behind which comes `last`.
template <class Work, class Last>
double seconds_of(const Effort& effort, int repetitions, Work work, Last last) {
  work();
  last();
  std::vector<double> seconds;
  for (int round = 0; round < effort.rounds; ++round) {
    const double begin = now();
    for (int again = 0; again < repetitions; ++again)
      work();
    last();
    seconds.push_back((now() - begin) / repetitions);
  }
  return median(seconds);
}

/// The seconds of work of all processes at once: of each round, the time of the slowest.
template <class Work, class Last>
double seconds_of(Team& team, const Effort& effort, int repetitions, Work work, Last last) {
  work();
  last();
  std::vector<double> seconds;
  for (int round = 0; round < effort.rounds; ++round) {
    team.barrier();
    const double begin = now();
    for (int again = 0; again < repetitions; ++again)
      work();
    last();
    seconds.push_back(team.longest(now() - begin) / repetitions);
  }
  return median(seconds);
}

/// GB/s, of 1e9 bytes.
[[nodiscard]] inline double rate(std::int64_t bytes, double seconds) {
  return static_cast<double>(bytes) / seconds / 1e9;
}

}  // namespace tutti::gpu
