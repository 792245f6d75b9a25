#pragma once
// Which MPI runs, and how it is set.

#include <string>
#include <string_view>
#include <vector>

namespace tutti::bench {

/// The text of MPI_Get_library_version, its lines joined by "; ". Needs no MPI_Init.
[[nodiscard]] std::string mpi_version();

/// "NAME=VALUE" of the environment variables of this process that tune an MPI or its parts, sorted.
[[nodiscard]] std::vector<std::string> mpi_settings();

/// Whether a variable is one of these settings, not one by which a launcher tells a process its rank or job.
[[nodiscard]] bool is_mpi_setting(std::string_view name);

}  // namespace tutti::bench
