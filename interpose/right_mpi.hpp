#pragma once
// Whether the program runs on the MPI that this library was built for.

namespace tutti::interpose {

/// Ends the process with one line if the program has loaded an MPI with other handles than those that this library was
/// built with. Before MPI_Init, as handles of the wrong kind crash there; one of all ranks prints.
void require_right_mpi();

/// By the variables of launchers: before MPI_Init, and after MPI_Finalize, MPI cannot tell.
[[nodiscard]] bool is_first_rank();

}  // namespace tutti::interpose
