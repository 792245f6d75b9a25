#include "apps/bench/devices.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>

#include "apps/bench/cuda.hpp"
#include "apps/options.hpp"
#include "apps/root.hpp"
#include "lib/cuda/state.hpp"
#include "lib/transport/mpi/check.hpp"
#include "lib/transport/mpi/dialect.hpp"
#include "tutti/error.hpp"

namespace tutti::bench {

namespace {

/// Why this rank cannot have the memory; else empty, and the device is described.
std::string chosen_here(const BenchMemory& memory, const Communicator& comm, std::string& device) {
  if (memory.kind == MemoryKind::device && !why_no_device_buffers().empty())
    return std::string{why_no_device_buffers()};
  try {
    device = cuda::use_device(comm.node().me);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Of this rank so far: the members of DeviceWork and DriverWork, in their order, and the traffic.
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

std::string choose_device(const BenchMemory& memory, const Communicator& comm) {
  if (!memory.needs_driver()) return {};
  // A build without CUDA takes all memory for the host's, or refuses it.
  if (tutti::cuda::state().empty()) {
    throw apps::InputError(fmt::format("--memory {}: this program was built without CUDA", memory.name));
  }
  std::string device;
  const std::string problem = chosen_here(memory, comm, device);
  apps::refuse_if_any(
      MPI_COMM_WORLD,
      problem.empty() ? "" : fmt::format("--memory {}: rank {}: {}", memory.name, comm.rank().value(), problem));
  return device;
}

bool mpi_takes(const BenchMemory& memory) { return memory.is_readable_by_host() || mpi::reads_device_memory(); }

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
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, traffic.data(), 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  mpi::check(
      MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
      "MPI_Allreduce");
  DeviceWork work{.fetched_bytes = counts[0], .stored_bytes = counts[1], .driver = {}, .traffic_share = {}};
  if (!cuda::driver_counts()) return work;
  work.driver =
      DriverWork{.calls = counts[2], .kernels = counts[3], .copies = counts[4], .synchronisations = counts[5]};
  if (traffic[1] > 0) work.traffic_share = traffic[0] / traffic[1];
  return work;
}

}  // namespace tutti::bench
