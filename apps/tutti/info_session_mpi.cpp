// tutti info in a build with MPI.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "apps/tutti/info_report.hpp"
#include "apps/tutti/info_session.hpp"
#include "lib/core/communicator/carrier.hpp"
#include "lib/core/communicator/counters.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "lib/core/transport/network.hpp"
#include "lib/topology/survey.hpp"
#include "tutti/error.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tool {
namespace {

using mpi::check;
using topology::Report;

// Set by PMIx (Open MPI, srun), PMI (MPICH, Intel MPI, srun, Cray), Open MPI, Hydra, PALS, jsrun, Flux, Slurm, MVAPICH.
constexpr std::array launcher_variables{
    "PMIX_RANK",   "PMI_RANK",           "PMI_FD",         "OMPI_COMM_WORLD_RANK", "MPI_LOCALRANKID",
    "PALS_RANKID", "JSM_NAMESPACE_RANK", "FLUX_TASK_RANK", "SLURM_PROCID",         "MV2_COMM_WORLD_RANK"};
/// How many processes a launcher says there are.
constexpr std::array size_variables{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

std::vector<std::string> shared_by_all(const std::string& mine, int rank, int size) {
  const int length = mpi::narrow(static_cast<std::int64_t>(mine.size()));
  std::vector<int> lengths(static_cast<std::size_t>(size)), offsets(lengths.size());
  check(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  std::string all(rank == 0 ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0, ' ');
  check(MPI_Gatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0,
                    MPI_COMM_WORLD),
        "MPI_Gatherv");
  std::vector<std::string> texts;
  for (std::size_t i = 0; rank == 0 && i < lengths.size(); ++i)
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
  return texts;
}

/// Where the launcher started several processes, of which MPI makes so many jobs of one.
std::string mismatch(int size) {
  for (const char* variable : size_variables) {
    const char* const value = std::getenv(variable);
    const int told = value == nullptr ? 1 : static_cast<int>(std::strtol(value, nullptr, 10));
    if (size == 1 && told > 1)
      return fmt::format(
          "{}={}, but to {} this process is alone: it was started by another MPI's launcher (srun: see --mpi=list)",
          variable, told, mpi_library());
  }
  return {};
}

Report report(int rank, int size) {
  mpi::Carrier carrier{MPI_COMM_WORLD};
  Report mine{.node = carrier.node_of(rank), .survey = topology::survey()};
  for (int peer = 0; peer < size; ++peer) {
    if (carrier.node_of(peer) != mine.node || peer == rank) continue;
    if (carrier.local_of(peer) < 0)
      mine.why_not = fmt::format("rank {} not with rank {}: {}", rank, peer, carrier.fabric().why_not());
  }
  return mine;
}

Taking ucx_takes() {
  const mpi::NetworkDriver* const ucx = mpi::find_network_driver("ucx");
  if (ucx == nullptr) return {{}, "built without UCX"};
  try {
    const std::string means = ucx->means_for_device_memory();
    return {!means.empty(), {}, means};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

Taking mpi_takes() {
  const mpi::CudaSupport support = mpi::cuda_support();
  if (support != mpi::CudaSupport::not_told) return {support == mpi::CudaSupport::yes, {}};
  int is_initialised = 0;
  check(MPI_Initialized(&is_initialised), "MPI_Initialized");
  return {{}, is_initialised != 0 ? "it does not tell" : "MPI was not initialised (--job does it)"};
}

constexpr std::int64_t longest = 4 * 1024L * 1024;  // bytes of the collectives that are counted

void exchange(const Communicator& comm, std::span<double> in, std::span<double> out) {
  std::iota(in.begin(), in.end(), 0.0);
  for (std::int64_t bytes = 8; bytes <= longest; bytes *= 8) {
    const auto count = static_cast<std::size_t>(bytes) / sizeof(double);
    allreduce(std::span{std::as_const(in)}.first(count), out.first(count), Op::sum, comm);
    broadcast(out.first(count), Rank{0}, comm);
  }
}

}  // namespace

DeviceReport device_report() {
  const char* const staging = std::getenv("TUTTI_STAGING");
  return {.survey = cuda::survey_devices(),
          .ucx = ucx_takes(),
          .mpi = mpi_takes(),
          .staging = staging == nullptr ? "" : staging};
}

bool is_launched() {
  return std::any_of(launcher_variables.begin(), launcher_variables.end(),
                     [](const char* variable) { return std::getenv(variable) != nullptr; });
}

MpiSession::MpiSession() {
  check(MPI_Init(nullptr, nullptr), "MPI_Init");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
}

MpiSession::~MpiSession() { MPI_Finalize(); }

topology::Job MpiSession::gather() const {
  std::vector<Report> reports;
  for (const std::string& text : shared_by_all(to_json(report(rank_, size_)), rank_, size_))
    reports.push_back(report_from_json(text));
  topology::Job job = topology::job_of(reports);
  job.components = components();
  if (const std::string note = mismatch(size_); !note.empty()) job.notes.push_back(note);
  return job;
}

/// Collectives of all ranks, in ordinary and in Tutti memory.
std::vector<CounterRow> MpiSession::count_mechanisms() const {
  const Communicator comm{MPI_COMM_WORLD};
  constexpr std::size_t most = longest / sizeof(double);
  std::vector<double> in(most), out(most);
  exchange(comm, in, out);
  SharedBuffer<double> shared_in{most}, shared_out{most};
  exchange(comm, shared_in, shared_out);
  const Counters mine = comm.counters();
  std::vector<CounterRow> rows;
  for (const auto& [name, meaning, value] : detail::named_counters()) {
    rows.push_back({.name = std::string{name}, .meaning = std::string{meaning}});
    const std::uint64_t here = mine.at(rows.back().name);
    mpi::check(MPI_Reduce(&here, &rows.back().value, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD), "MPI_Reduce");
  }
  return rows;
}

topology::Job alone() {
  topology::Job job = topology::job_of({Report{.node = 0, .survey = topology::survey()}});
  job.components = components();
  job.notes.emplace_back("this process only, as no MPI launcher started it; MPI was not initialised (--job does it)");
  return job;
}

}  // namespace tutti::tool
