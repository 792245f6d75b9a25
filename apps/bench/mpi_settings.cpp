#include "apps/bench/mpi_settings.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "lib/runtime/variables.hpp"

namespace tutti::bench {

namespace {

/// Open MPI (and libfabric, UCX, hcoll below it), Intel MPI, MPICH and its kin.
constexpr std::string_view families[] = {"OMPI_MCA_", "I_MPI_", "MPICH_", "MPIR_", "MV2_",
                                         "UCX_",      "UCC_",   "HCOLL_", "FI_"};

/// Beginnings of the variables that launchers set for their processes.
constexpr std::string_view of_launchers[] = {"OMPI_MCA_orte_",
                                             "OMPI_MCA_ess",
                                             "OMPI_MCA_initial_wdir",
                                             "OMPI_MCA_num_procs",
                                             "OMPI_MCA_PREFIXES",
                                             "OMPI_MCA_cpu_type",
                                             "OMPI_MCA_pmix",
                                             "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                                             "I_MPI_INFO_",
                                             "I_MPI_HYDRA_",
                                             "I_MPI_INTERNAL_",
                                             "I_MPI_MPIRUN",
                                             "I_MPI_PIN_INFO",
                                             "I_MPI_PIN_MAPPING",
                                             "I_MPI_RETURN_WIN_MEM_NUMA",
                                             "I_MPI_BIND_WIN_ALLOCATE"};

bool starts_with_any(std::string_view name, const auto& beginnings) {
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

}  // namespace

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown";
  std::string line;
  for (const char c : std::string_view{text.data(), static_cast<std::size_t>(length)}) {
    if (c == '\n') {
      line += "; ";
    } else if (c > ' ' || (c != '\0' && !line.ends_with(' '))) {
      line += c > ' ' ? c : ' ';
    }
  }
  line.erase(line.find_last_not_of("; ") + 1);
  return line;
}

bool is_mpi_setting(std::string_view name) {
  const bool is_ours = std::ranges::find(variables, name, &Variable::name) != variables.end();
  return is_ours || (starts_with_any(name, families) && !starts_with_any(name, of_launchers));
}

std::vector<std::string> mpi_settings() {
  std::vector<std::string> settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (is_mpi_setting(text.substr(0, text.find('=')))) settings.emplace_back(text);
  }
  std::sort(settings.begin(), settings.end());
  return settings;
}

}  // namespace tutti::bench
