#pragma once
// Whether all ranks of the job run with this library.

namespace tutti::interpose {

/// Collective over those ranks of MPI_COMM_WORLD that have the library; the same on all of them. If not all have it, no
/// call may be served: it says so, and who lacks it, on stderr. The loader only warns of a preloaded file that a node
/// lacks: ranks there run without it, and would take what Tutti tells others for the program's data. So a rank sends
/// nothing but to rank 0 until it knows. Cost: four messages of 8 bytes a rank, from and to rank 0; 10 seconds if ranks
/// are missing, 20 if rank 0 is.
[[nodiscard]] bool have_all_the_library();

}  // namespace tutti::interpose
