// The only file with conditional compilation on the MPI library. Against the standard MPI ABI, it uses only functions
// of the standard, so that one binary runs on every MPI.
#include "lib/core/transport/mpi/dialect.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::mpi {

std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (api.Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown MPI";
  return name_in({text.data(), static_cast<std::size_t>(length)});
}

std::string_view own_abi() {
#if defined(OPEN_MPI)
  return open_mpi_abi;
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH_VERSION)
  return mpich_abi;
#elif defined(MPI_ABI_VERSION)
  return standard_abi;
#else
  return {};
#endif
}

namespace {

bool is_between_init_and_finalize() {
  int has_begun = 0, has_ended = 0;
  return api.Initialized(&has_begun) == MPI_SUCCESS && api.Finalized(&has_ended) == MPI_SUCCESS && has_begun != 0 &&
         has_ended == 0;
}

/// The kinds of memory that the MPI takes (MPI 4.1, 12.4.3); empty: it does not tell.
std::string memory_alloc_kinds() {
  // Looked up: the function is deprecated from MPI 4.0 on, before which there is no other.
  using InfoGet = int(MPI_Info, const char*, int, char*, int*);
  auto* const get = reinterpret_cast<InfoGet*>(::dlsym(RTLD_DEFAULT, "PMPI_Info_get"));
  MPI_Info info = MPI_INFO_NULL;
  if (get == nullptr || api.Comm_get_info(MPI_COMM_WORLD, &info) != MPI_SUCCESS) return {};
  std::array<char, MPI_MAX_INFO_VAL + 1> text{};
  int is_there = 0;
  const bool told = get(info, "mpi_memory_alloc_kinds", MPI_MAX_INFO_VAL, text.data(), &is_there) == MPI_SUCCESS;
  api.Info_free(&info);
  return told && is_there != 0 ? std::string{text.data()} : std::string{};
}

/// What MPIX_Query_cuda_support says, which some MPIs have.
CudaSupport cuda_support_by_extension() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1 ? CudaSupport::yes : CudaSupport::no;
#else
  // Looked up, as no standard header has it. MPICH may end a program that asks too early or too late.
  using Query = int();
  auto* const query = reinterpret_cast<Query*>(::dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  if (query == nullptr || !is_between_init_and_finalize()) return CudaSupport::not_told;
  return query() == 1 ? CudaSupport::yes : CudaSupport::no;
#endif
}

}  // namespace

/// The kinds that are listed may be only those that the program asked for: where they lack CUDA's, the MPI may still
/// say yes in its own way.
CudaSupport cuda_support() {
  if (is_between_init_and_finalize() && has_cuda_device(memory_alloc_kinds())) return CudaSupport::yes;
  return cuda_support_by_extension();
}

namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::string_view{"1"} == value;
}

}  // namespace

bool user_wants_yields() { return is_set("OMPI_MCA_mpi_yield_when_idle"); }

/// Open MPI keeps it in a variable of that name. To ask its tools interface would open all of its components, which
/// takes seconds on some systems. What mpirun tells its processes serves where the variable is hidden.
bool yields_when_idle() {
  if (const auto* const yields = static_cast<const bool*>(::dlsym(RTLD_DEFAULT, "ompi_mpi_yield_when_idle")))
    return *yields;
  return user_wants_yields() || is_set("OMPI_MCA_mpi_oversubscribe");
}

#if MPI_VERSION < 4 && defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
// Null where they are missing: Open MPI 5 runs programs that were built with Open MPI 4, but has no such functions.
#pragma weak MPIX_Barrier_init
#pragma weak MPIX_Bcast_init
#pragma weak MPIX_Reduce_init
#pragma weak MPIX_Allreduce_init
#pragma weak MPIX_Reduce_scatter_block_init
#pragma weak MPIX_Scan_init
#pragma weak MPIX_Exscan_init
#pragma weak MPIX_Allgather_init
#pragma weak MPIX_Alltoall_init
#pragma weak MPIX_Gather_init
#pragma weak MPIX_Scatter_init
#pragma weak MPIX_Allgatherv_init
#pragma weak MPIX_Gatherv_init
#pragma weak MPIX_Scatterv_init
#pragma weak MPIX_Alltoallv_init
#endif

// A conversion of handles, which some MPIs have as a macro only: it cannot be in the table.
MPI_Comm communicator_of_fortran(int number) {
#if defined(MPI_ABI_VERSION)
  return PMPI_Comm_fromint(number);
#else
  MPI_Comm comm = PMPI_Comm_f2c(number);
  return comm == MPI_Comm{} ? MPI_COMM_NULL : comm;  // Open MPI: no such number
#endif
}

// Static initialisation: the functions' addresses are all it takes.
constinit const PersistentCollectives persistent {
#if MPI_VERSION >= 4
  .barrier = MPI_Barrier_init, .bcast = MPI_Bcast_init, .reduce = MPI_Reduce_init, .allreduce = MPI_Allreduce_init,
  .reduce_scatter_block = MPI_Reduce_scatter_block_init, .scan = MPI_Scan_init, .exscan = MPI_Exscan_init,
  .allgather = MPI_Allgather_init, .alltoall = MPI_Alltoall_init, .gather = MPI_Gather_init,
  .scatter = MPI_Scatter_init, .allgatherv = MPI_Allgatherv_init, .gatherv = MPI_Gatherv_init,
  .scatterv = MPI_Scatterv_init, .alltoallv = MPI_Alltoallv_init,
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
  .barrier = MPIX_Barrier_init, .bcast = MPIX_Bcast_init, .reduce = MPIX_Reduce_init, .allreduce = MPIX_Allreduce_init,
  .reduce_scatter_block = MPIX_Reduce_scatter_block_init, .scan = MPIX_Scan_init, .exscan = MPIX_Exscan_init,
  .allgather = MPIX_Allgather_init, .alltoall = MPIX_Alltoall_init, .gather = MPIX_Gather_init,
  .scatter = MPIX_Scatter_init, .allgatherv = MPIX_Allgatherv_init, .gatherv = MPIX_Gatherv_init,
  .scatterv = MPIX_Scatterv_init, .alltoallv = MPIX_Alltoallv_init,
#endif
};

}  // namespace tutti::mpi
