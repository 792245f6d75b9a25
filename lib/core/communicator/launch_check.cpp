#include "lib/core/communicator/launch_check.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// Open MPI's mpirun, and Hydra's, which MPICH and Intel MPI have, say how many they started.
bool was_started_alone(const Environment& environment) {
  return std::ranges::any_of(std::array<const char*, 2>{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, [&](const char* name) {
    const char* size = environment(name);
    return size != nullptr && std::string_view{size} == "1";
  });
}

}  // namespace

std::string why_not_alone(int world_size, std::string_view mpi, const Environment& environment) {
  if (world_size > 1) return {};
  const char *rank = environment("SLURM_PROCID"), *tasks = environment("SLURM_STEP_NUM_TASKS");
  if (rank == nullptr || tasks == nullptr || std::atoi(tasks) <= 1 || was_started_alone(environment)) return {};
  return fmt::format(
      "tutti: srun started {} tasks, this is number {}, but MPI's world has 1 process: {} did not learn of the others. "
      "Choose what it understands: srun --mpi=pmix for Open MPI, --mpi=pmi2 for MPICH and Intel MPI (srun --mpi=list "
      "names what there is), or start with its own mpirun inside salloc or sbatch. If each task is meant to be alone: "
      "srun env -u SLURM_PROCID PROGRAM",
      tasks, rank, mpi);
}

void require_whole_job() {
  const int size = mpi::ranks_in(MPI_COMM_WORLD);
  if (size > 1) return;
  const std::string why = why_not_alone(size, mpi::library_name(), [](const char* name) { return std::getenv(name); });
  if (!why.empty()) throw StateError(why);
}

}  // namespace tutti::detail
