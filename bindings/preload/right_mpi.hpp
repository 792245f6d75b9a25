#pragma once
// Whether the program runs on the MPI that this library was built for.

namespace tutti::interpose {

/// Ends the process with one line if the program has loaded an MPI with other handles than those that this library was
/// built with. Before MPI_Init, as handles of the wrong kind crash there; one of all ranks prints.
void require_right_mpi();

/// Asks the variables of launchers, as MPI cannot tell before MPI_Init and after MPI_Finalize.
[[nodiscard]] bool is_first_rank();

}  // namespace tutti::interpose
