#pragma once
// A job whose processes do not know of each other: each believes to be rank 0 of 1, and computes all of it.

#include <functional>
#include <string>
#include <string_view>

namespace tutti::detail {

/// The value of an environment variable; nullptr if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Why this process is not meant to be alone, and the remedy; empty if it may be alone. It is not meant to be where
/// srun started several tasks but MPI's world has one process: the MPI did not learn of the others through the
/// interface that `--mpi` chooses. A process that an MPI's own launcher started as the only one of its world is right,
/// though srun may have started that launcher's daemons; so is one in a batch script or an allocation, which is no task
/// of srun.
[[nodiscard]] std::string why_not_alone(int world_size, std::string_view mpi, const Environment& environment);

/// Throws StateError where MPI_COMM_WORLD is one of many that should have been one. Needs MPI.
void require_whole_job();

}  // namespace tutti::detail
