#pragma once
// Everything in which MPI libraries differ.

#include <mpi.h>

#include <string>
#include <string_view>

#include "lib/core/transport/mpi/library_text.hpp"

namespace tutti::mpi {

/// The library's name and version: "Open MPI 4.1.4". Needs no MPI_Init.
[[nodiscard]] std::string library_name();

/// The MPIs that this was compiled for, as abi_of() names them.
[[nodiscard]] std::string_view own_abi();

/// What the MPI says of pointers to CUDA memory. Never found out by trying: that crashes.
enum class CudaSupport { no, yes, not_told };
/// What the info "mpi_memory_alloc_kinds" of MPI 4.1 says, or MPIX_Query_cuda_support. not_told: the MPI has neither,
/// or tells only between MPI_Init and MPI_Finalize.
[[nodiscard]] CudaSupport cuda_support();
[[nodiscard]] inline bool reads_device_memory() { return cuda_support() == CudaSupport::yes; }

/// Whether the user told the MPI that its processes share processors (with others, of another job or another node):
/// Open MPI's mpi_yield_when_idle, of its own environment or from mpirun --mca.
[[nodiscard]] bool user_wants_yields();

/// Whether a test that finds nothing gives the processor away by itself. A second yield would cost a time slice more.
[[nodiscard]] bool yields_when_idle();

/// The communicator that a number of Fortran's stands for; MPI_COMM_NULL if there is none. A number may stand for none
/// without the MPI's noticing.
[[nodiscard]] MPI_Comm communicator_of_fortran(int number);

/// MPI's persistent collectives, under the names that this MPI gives them; all are nullptr if it has none. Their
/// arguments are those of the blocking ones, then an info and the request. Programs call them, the library does not:
/// they are always the functions of the MPI_ names, never of the PMPI_ names.
struct PersistentCollectives {
  template <class... Arguments>
  using Init = int (*)(Arguments..., MPI_Comm, MPI_Info, MPI_Request*);
  using In = const void*;
  using Out = void*;
  using List = const int*;
  using Type = MPI_Datatype;

  Init<> barrier = nullptr;
  Init<Out, int, Type, int> bcast = nullptr;
  Init<In, Out, int, Type, MPI_Op, int> reduce = nullptr;
  Init<In, Out, int, Type, MPI_Op> allreduce = nullptr, reduce_scatter_block = nullptr, scan = nullptr,
                                   exscan = nullptr;
  Init<In, int, Type, Out, int, Type> allgather = nullptr, alltoall = nullptr;
  Init<In, int, Type, Out, int, Type, int> gather = nullptr, scatter = nullptr;
  Init<In, int, Type, Out, List, List, Type> allgatherv = nullptr;
  Init<In, int, Type, Out, List, List, Type, int> gatherv = nullptr;
  Init<In, List, List, Type, Out, int, Type, int> scatterv = nullptr;
  Init<In, List, List, Type, Out, List, List, Type> alltoallv = nullptr;
};
extern const PersistentCollectives persistent;

}  // namespace tutti::mpi
