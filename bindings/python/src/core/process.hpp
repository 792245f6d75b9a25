#pragma once
// What concerns the process: MPI's initialisation and its end, forks, two MPIs in one process.

#include "errors.hpp"

namespace tutti::python {

/// StateError in a child of a fork.
void require_same_process(const char* function);
[[nodiscard]] bool is_child_of_fork();

/// Initialises MPI with MPI_THREAD_MULTIPLE if nobody has; raises StateError after MPI_Finalize, and where mpi4py or
/// another library uses a second MPI. MPI that was initialised here is finalised when the interpreter ends.
void require_mpi();

/// Whether MPI runs: initialised and not finalised.
[[nodiscard]] bool mpi_runs();

void bind_process(nb::module_& module);

}  // namespace tutti::python
