#pragma once
// Nodes and sockets for experiments on one machine.

#include <mpi.h>

#include <optional>

#include "lib/core/transport/mpi/handles.hpp"

namespace tutti::mpi {

/// Splits a node as TUTTI_NODES says, if rank 0 of `comm` has it: for every rank of MPI_COMM_WORLD the number of a
/// node, as in "0,0,1,1"; ranks of one node that have different numbers then talk over MPI. Else `node` stays as it is.
/// Collective over `comm`. Throws ArgumentError on all ranks.
void pretend_nodes(MPI_Comm comm, UniqueComm& node);
/// The socket of this rank that TUTTI_SOCKETS says, in the same way. Collective over `comm`; throws as above.
[[nodiscard]] std::optional<int> pretended_socket(MPI_Comm comm);

}  // namespace tutti::mpi
