#pragma once
// Which MPI runs, and how it is set.

#include <string>
#include <string_view>
#include <vector>

namespace tutti::bench {

/// What MPI_Get_library_version says, its lines joined by "; ". Needs no MPI_Init.
[[nodiscard]] std::string mpi_version();

/// "NAME=VALUE" of the environment variables of this process that tune an MPI or what it is made of, sorted.
[[nodiscard]] std::vector<std::string> mpi_settings();

/// Whether a variable is such a setting, not one by which a launcher tells a process who it is.
[[nodiscard]] bool is_mpi_setting(std::string_view name);

}  // namespace tutti::bench
