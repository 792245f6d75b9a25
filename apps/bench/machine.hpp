#pragma once
// The machine and the settings of a run.

#include <string>
#include <vector>

#include "tutti/communicator.hpp"
#include "tutti/environment.hpp"

namespace tutti::bench {

/// Filled in on rank 0; the same figures mean little without it.
struct Machine {
  std::vector<Component> versions;
  std::string mpi;
  std::string mpi_version;                ///< How the MPI library describes itself, in one line.
  std::vector<std::string> mpi_settings;  ///< "NAME=VALUE": environment variables of rank 0 that tune the MPI.
  std::string command, started;           ///< Command line; date and time in UTC, ISO 8601.
  std::vector<std::string> hosts;         ///< One for each node.
  std::vector<std::string> binding;       ///< CPUs allowed to each rank, e.g. "0-3,8".
  std::vector<std::string> devices;       ///< That of each rank, e.g. "1 of 2 (NAME)"; none if buffers need none.
  int ranks = 0, nodes = 0;
  int most_ranks_per_node = 0;
  int cores = 0;  ///< Hardware threads online on the node of rank 0.
  [[nodiscard]] bool has_more_ranks_than_cores() const { return most_ranks_per_node > cores; }
  double clock_cost_ns = 0;  ///< Reading the clock once: part of every call that is timed alone.
};

/// Collective over `comm`. `device`: that of this rank; empty on all ranks if there is none.
[[nodiscard]] Machine survey(const Communicator& comm, const std::vector<std::string>& command,
                             const std::string& device);

/// Whether an environment variable tunes an MPI or its parts, and is not one by which a launcher tells a process its
/// rank or job.
[[nodiscard]] bool is_mpi_setting(std::string_view name);

}  // namespace tutti::bench
