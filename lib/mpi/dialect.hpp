#pragma once
// Everything in which MPI libraries differ.

#include <mpi.h>

#include <string>

namespace tutti::mpi {

/// The library's name and version: "Open MPI 4.1.4". Needs no MPI_Init.
[[nodiscard]] std::string library_name();

/// Whether point-to-point calls take pointers to CUDA memory. Never found out by trying: that crashes.
[[nodiscard]] bool reads_device_memory();

/// Whether a test that finds nothing gives the processor away by itself. A second yield would cost a time slice more.
[[nodiscard]] bool yields_when_idle();

/// Prepares a persistent MPI_Allreduce under the name that this MPI has for it; false if it has none.
bool persistent_allreduce_init(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request);

}  // namespace tutti::mpi
