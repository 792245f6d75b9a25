#pragma once
// What a datatype was made of. MPIs of version 4 ask for it otherwise: contents_large.cpp.

#include <mpi.h>

#include <vector>

namespace tutti::interpose {

/// How it was made: MPI_COMBINER_CONTIGUOUS, for instance.
[[nodiscard]] int combiner_of(MPI_Datatype type);
/// The types of which it was made; not to be called for MPI_COMBINER_NAMED. Those that are the program's are to be
/// freed.
[[nodiscard]] std::vector<MPI_Datatype> parts_of(MPI_Datatype type);

}  // namespace tutti::interpose
