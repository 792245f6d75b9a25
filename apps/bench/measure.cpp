#include "apps/bench/measure.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>

#include "apps/bench/sweep.hpp"
#include "lib/mpi/check.hpp"

namespace tutti::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void barrier() { mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

double seconds_back_to_back(Repeater& way, int calls) {
  barrier();
  const auto begin = Clock::now();
  way.run(calls);
  return seconds_since(begin);
}

double seconds_touching(Repeater& way, int calls, const Protocol& protocol) {
  double sum = 0;
  barrier();
  for (int i = 0; i < calls; ++i) {
    protocol.memory->rewrite(protocol.touched);
    if (protocol.touching == Protocol::Touching::for_long) barrier();
    const auto begin = Clock::now();
    way.run(1);
    sum += seconds_since(begin);
  }
  return sum;
}

/// Per call, on this rank.
double round(Repeater& way, int calls, const Protocol& protocol) {
  way.run(calls_before_round(calls));
  const double sum = protocol.touching == Protocol::Touching::no ? seconds_back_to_back(way, calls)
                                                                 : seconds_touching(way, calls, protocol);
  barrier();
  return sum / calls;
}

/// The slowest rank decides for all: ranks that make different numbers of calls would hang, and a rank that only sends
/// may be done long before the others.
int chosen_calls(Repeater& way) {
  constexpr double long_enough = round_seconds / 4;
  constexpr int attempts = 3;  // The quickest counts, as a pause of the process makes any call look long.
  for (int calls = 1;; calls *= 4) {
    double seconds = seconds_back_to_back(way, calls);
    for (int attempt = 1; attempt < attempts; ++attempt) {
      seconds = std::min(seconds, seconds_back_to_back(way, calls));
    }
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    if (seconds >= long_enough || calls >= most_calls) return calls_per_round(seconds / calls);
  }
}

}  // namespace

std::vector<Timing> measure(std::span<Repeater* const> ways, const Protocol& protocol) {
  std::vector<Timing> timings;
  for (Repeater* const way : ways) {
    timings.push_back({protocol.calls > 0 ? protocol.calls : chosen_calls(*way), {}});
    timings.back().seconds.reserve(static_cast<std::size_t>(protocol.rounds));
  }
  for (int number = -protocol.warmup_rounds; number < protocol.rounds; ++number) {
    for (std::size_t turn = 0; turn < ways.size(); ++turn) {
      const std::size_t i = number % 2 == 0 ? turn : ways.size() - 1 - turn;
      const double seconds = round(*ways[i], timings[i].calls, protocol);
      if (number >= 0) timings[i].seconds.push_back(seconds);
    }
  }
  for (Timing& timing : timings) {
    std::vector<double> slowest(timing.seconds.size());
    mpi::check(
        MPI_Reduce(timing.seconds.data(), slowest.data(), protocol.rounds, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD),
        "MPI_Reduce");
    timing.seconds = std::move(slowest);
  }
  return timings;
}

}  // namespace tutti::bench
