#include "apps/bench/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "apps/bench/statistics.hpp"
#include "apps/ranges.hpp"
#include "lib/core/communicator/variables.hpp"

namespace tutti::bench {

namespace {

constexpr std::size_t text_length = 256;  // Texts that ranks send about themselves are cut to this.

/// One text of each rank, on rank 0.
std::vector<std::string> gathered(const std::string& mine, const Communicator& comm) {
  std::array<char, text_length> sent{};
  mine.copy(sent.data(), text_length - 1);
  std::vector<char> all(text_length * static_cast<std::size_t>(comm.size()));
  MPI_Gather(sent.data(), text_length, MPI_CHAR, all.data(), text_length, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < all.size(); begin += text_length) {
    texts.emplace_back(&all[begin]);
  }
  return texts;
}

std::string allowed_cpus() {
  // Machines may have more CPUs than the fixed cpu_set_t: ask with a larger set.
  constexpr int most_cpus = 8192;
  cpu_set_t* const set = CPU_ALLOC(most_cpus);
  const std::size_t size = CPU_ALLOC_SIZE(most_cpus);
  CPU_ZERO_S(size, set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, size, set) == 0) {
    for (int cpu = 0; cpu < most_cpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
    }
  }
  CPU_FREE(set);
  return apps::ranges_text(cpus);
}

std::string host_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  return {name.data(), static_cast<std::size_t>(length)};
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

double clock_cost_ns() {
  using Clock = std::chrono::steady_clock;
  constexpr int reads = 100;
  std::vector<double> costs;
  for (int sample = 0; sample < 21; ++sample) {
    const auto begin = Clock::now();
    auto end = begin;
    for (int i = 0; i < reads; ++i) {
      end = Clock::now();
    }
    costs.push_back(std::chrono::duration<double, std::nano>(end - begin).count() / reads);
  }
  return spread_of(std::move(costs)).median;
}

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

/// The text of MPI_Get_library_version, its lines joined by "; ".
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

/// "NAME=VALUE" of the variables that tune the MPI, sorted.
std::vector<std::string> mpi_settings() {
  std::vector<std::string> settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    if (is_mpi_setting(text.substr(0, text.find('=')))) settings.emplace_back(text);
  }
  std::sort(settings.begin(), settings.end());
  return settings;
}

}  // namespace

bool is_mpi_setting(std::string_view name) {
  const bool is_ours = std::ranges::find(variables, name, &Variable::name) != variables.end();
  return is_ours || (starts_with_any(name, families) && !starts_with_any(name, of_launchers));
}

Machine survey(const Communicator& comm, const std::vector<std::string>& command, const std::string& device) {
  Machine machine;
  machine.versions = components();
  machine.mpi = mpi_library();
  machine.mpi_version = mpi_version();
  machine.mpi_settings = mpi_settings();
  machine.command = fmt::format("{}", fmt::join(command, " "));
  machine.started = now_in_utc();
  machine.ranks = comm.size();
  machine.nodes = comm.node_count();
  machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.clock_cost_ns = clock_cost_ns();
  machine.binding = gathered(allowed_cpus(), comm);
  if (!device.empty()) machine.devices = gathered(device, comm);

  const auto hosts = gathered(host_name(), comm);
  machine.hosts.resize(static_cast<std::size_t>(machine.nodes));
  std::vector<int> ranks_on(machine.hosts.size());
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto node = static_cast<std::size_t>(comm.node_of(Rank{rank}));
    machine.hosts[node] = hosts[static_cast<std::size_t>(rank)];
    ++ranks_on[node];
  }
  machine.most_ranks_per_node = *std::max_element(ranks_on.begin(), ranks_on.end());
  return machine;
}

}  // namespace tutti::bench
