#include "apps/bench/devices.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>

#include "apps/bench/cuda.hpp"
#include "apps/options.hpp"
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

/// The first rank's, on all.
std::string first_of(const std::string& problem, const Communicator& comm) {
  int rank = problem.empty() ? comm.size() : comm.rank().value();
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  if (rank == comm.size()) return {};
  std::array<char, 256> text{};
  problem.copy(text.data(), text.size() - 1);
  mpi::check(MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, MPI_COMM_WORLD), "MPI_Bcast");
  return fmt::format("rank {}: {}", rank, text.data());
}

/// Of this rank so far: the members of DeviceWork and DriverWork, in their order.
std::array<double, 6> counts_of(const Communicator& comm) {
  const Counters counters = comm.counters();
  const cuda::DriverCounts driver = cuda::driver_counts().value_or(cuda::DriverCounts{});
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  return {number(counters.at("device.fetched_bytes")),
          number(counters.at("device.stored_bytes")),
          number(driver.calls),
          number(driver.kernels),
          number(driver.copies),
          number(driver.synchronisations)};
}

}  // namespace

std::string choose_device(const BenchMemory& memory, const Communicator& comm) {
  if (!memory.needs_driver()) return {};
  // A build without CUDA takes all memory for the host's, or refuses it.
  if (tutti::cuda::state().empty()) {
    throw apps::InputError(fmt::format("--memory {}: this program was built without CUDA", memory.name));
  }
  std::string device;
  const std::string problem = first_of(chosen_here(memory, comm, device), comm);
  if (!problem.empty()) throw apps::InputError(fmt::format("--memory {}: {}", memory.name, problem));
  return device;
}

bool mpi_takes(const BenchMemory& memory) { return memory.is_readable_by_host() || mpi::reads_device_memory(); }

DeviceWork work_of(Repeater& ours, const Communicator& comm) {
  constexpr int calls = 4;
  const std::array before = counts_of(comm);
  ours.run(calls);
  std::array counts = counts_of(comm);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = (counts[i] - before[i]) / calls;
  }
  mpi::check(
      MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
      "MPI_Allreduce");
  DeviceWork work{.fetched_bytes = counts[0], .stored_bytes = counts[1], .driver = {}};
  if (cuda::driver_counts())
    work.driver =
        DriverWork{.calls = counts[2], .kernels = counts[3], .copies = counts[4], .synchronisations = counts[5]};
  return work;
}

}  // namespace tutti::bench
