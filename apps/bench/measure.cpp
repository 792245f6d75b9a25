#include "apps/bench/measure.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "apps/bench/cuda.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::bench {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// MPI's own also where a library is preloaded that would serve it: what is measured changes, not how.
void barrier(const Protocol& protocol) { mpi::check(mpi::api.Barrier(protocol.comm), "MPI_Barrier"); }

double seconds_back_to_back(Repeater& way, int calls) {
  const auto begin = Clock::now();
  way.run(calls);
  return seconds_since(begin);
}

/// Each call timed alone.
double seconds_one_by_one(Repeater& way, int calls, const Protocol& protocol) {
  const bool meets =
      protocol.touching == Protocol::Touching::for_long || protocol.pace == Protocol::Pace::after_barriers;
  double sum = 0;
  for (int i = 0; i < calls; ++i) {
    if (protocol.touching != Protocol::Touching::no) protocol.memory->rewrite(protocol.touched);
    if (meets) barrier(protocol);
    const auto begin = Clock::now();
    way.run(1);
    sum += seconds_since(begin);
  }
  return sum;
}

/// After a barrier.
double seconds_of(Repeater& way, int calls, const Protocol& protocol) {
  barrier(protocol);
  const bool one_by_one =
      protocol.touching != Protocol::Touching::no || protocol.pace == Protocol::Pace::after_barriers;
  return one_by_one ? seconds_one_by_one(way, calls, protocol) : seconds_back_to_back(way, calls);
}

/// Per call, on this rank.
double round(Repeater& way, int calls, const Protocol& protocol) {
  way.run(calls_before_round(calls));
  const double sum = seconds_of(way, calls, protocol);
  barrier(protocol);
  return sum / calls;
}

/// The slowest rank decides for all: ranks that make different numbers of calls would hang, and a rank that only sends
/// may be done long before the others.
int chosen_calls(Repeater& way, Protocol protocol) {
  protocol.touching = Protocol::Touching::no;
  const double long_enough = protocol.seconds / 4;
  for (int calls = 1;; calls *= 4) {
    double seconds = seconds_of(way, calls, protocol);
    for (int attempt = 1; attempt < protocol.attempts; ++attempt) {
      seconds = std::min(seconds, seconds_of(way, calls, protocol));
    }
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, protocol.comm), "MPI_Allreduce");
    if (seconds >= long_enough || calls >= most_calls) return calls_per_round(seconds / calls, protocol.seconds);
  }
}

/// What this rank has counted so far: the members of DeviceWork and DriverWork, in their order, and the traffic.
std::array<double, 7> counts_of(const Communicator& comm) {
  const Counters counters = comm.counters();
  const cuda::DriverCounts driver = cuda::driver_counts().value_or(cuda::DriverCounts{});
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  return {number(counters.at("device.fetched_bytes")),
          number(counters.at("device.stored_bytes")),
          number(driver.calls),
          number(driver.kernels),
          number(driver.copies),
          number(driver.synchronisations),
          number(driver.traffic_bytes)};
}

}  // namespace

std::vector<double> Timing::microseconds() const {
  std::vector<double> values = seconds;
  for (double& value : values) {
    value *= 1e6;
  }
  return values;
}

int calls_per_round(double seconds_per_call, double seconds) {
  if (!(seconds_per_call > seconds / most_calls)) return most_calls;
  return std::max(1, static_cast<int>(std::lround(seconds / seconds_per_call)));
}

Protocol protocol_of(const BenchCollective& collective, const Settings& settings, const Buffers& buffers,
                     const Call& call) {
  using Touching = Protocol::Touching;
  const Bytes size = call.count.value() * size_of(call.type);
  const Touching touching = !settings.is_touched || size == Bytes{0}    ? Touching::no
                            : size.value() < barrier_from_touched_bytes ? Touching::briefly
                                                                        : Touching::for_long;
  return {.rounds = settings.rounds,
          .warmup_rounds = settings.warmup,
          .calls = settings.iters,
          .touching = touching,
          .pace = collective.is_one_way() ? Protocol::Pace::after_barriers : Protocol::Pace::back_to_back,
          .touched = buffers.input_of(call),
          .memory = &buffers.memory(),
          .comm = call.mpi};
}

std::vector<Timing> measure(std::span<Repeater* const> ways, const Protocol& protocol) {
  std::vector<Timing> timings;
  for (Repeater* const way : ways) {
    timings.push_back({protocol.calls > 0 ? protocol.calls : chosen_calls(*way, protocol), {}});
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
        MPI_Reduce(timing.seconds.data(), slowest.data(), protocol.rounds, MPI_DOUBLE, MPI_MAX, 0, protocol.comm),
        "MPI_Reduce");
    timing.seconds = std::move(slowest);
  }
  return timings;
}

std::int64_t least_traffic(const BenchCollective& collective, const Call& call) {
  const std::int64_t own = call.block().value(), all = call.count.value();
  const std::int64_t moved = all - (call.is_in_place ? own : 0), if_root = call.is_root() ? 1 : 0;
  const auto elements = [&]() -> std::int64_t {
    if (!collective.collective) return 2 * all;  // sendrecv
    switch (*collective.collective) {
      case Collective::barrier:
        return 0;
      case Collective::broadcast:
        return 2 * all * (1 - if_root);
      case Collective::reduce:
        return all + all * if_root;
      case Collective::reduce_scatter:
        return all + own;
      case Collective::allgather:
      case Collective::alltoall:
        return 2 * moved;
      case Collective::gather:
      case Collective::scatter:
        return 2 * moved * if_root;
      case Collective::exscan:  // nobody needs the last input, and the first has no output
        return all * ((call.rank() + 1 < call.ranks() ? 1 : 0) + (call.rank() > 0 ? 1 : 0));
      default:  // allreduce, scan
        return 2 * all;
    }
  };
  return elements() * size_of(call.type).value();
}

DeviceWork work_of(const BenchCollective& collective, const Call& call, Repeater& ours, const Communicator& comm) {
  constexpr int calls = 4;
  const std::array before = counts_of(comm);
  ours.run(calls);
  std::array counts = counts_of(comm);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = (counts[i] - before[i]) / calls;
  }
  std::array traffic{counts.back(), static_cast<double>(least_traffic(collective, call))};
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, traffic.data(), 2, MPI_DOUBLE, MPI_SUM, call.mpi), "MPI_Allreduce");
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_DOUBLE, MPI_MAX, call.mpi),
             "MPI_Allreduce");
  DeviceWork work{.fetched_bytes = counts[0], .stored_bytes = counts[1], .driver = {}, .traffic_share = {}};
  if (!cuda::driver_counts()) return work;
  work.driver =
      DriverWork{.calls = counts[2], .kernels = counts[3], .copies = counts[4], .synchronisations = counts[5]};
  if (traffic[1] > 0) work.traffic_share = traffic[0] / traffic[1];
  return work;
}

}  // namespace tutti::bench
