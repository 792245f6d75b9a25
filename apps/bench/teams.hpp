#pragma once
// Some of the ranks measure, and the others wait without disturbing them.

#include <mpi.h>

#include <functional>

#include "tutti/communicator.hpp"

namespace tutti::bench {

/// The first ranks of the job, or all: they measure.
struct Team {
  MPI_Comm mpi;
  const Communicator& comm;
  [[nodiscard]] int size() const { return comm.size(); }
  [[nodiscard]] bool has_root() const { return comm.rank() == Rank{0}; }
};

/// Collective over `mpi`. Throws InputError on all ranks if a setting, of the options or of the environment, is wrong:
/// all ranks find that alike.
[[nodiscard]] Communicator made_communicator(MPI_Comm mpi, const CommunicatorOptions& options);

/// A barrier in which ranks sleep, but for a look every half millisecond: a rank that waits in MPI_Barrier takes a
/// processor, and disturbs those that measure. Collective over `comm`.
void sleeping_barrier(MPI_Comm comm);

/// Collective over MPI_COMM_WORLD: `measure` runs on the first `ranks` of its ranks, while the others sleep. If it
/// throws InputError on all of those, all ranks do. `comm`: one of all ranks; the team has it if it has all ranks.
void with_team(int ranks, const Communicator& comm, const CommunicatorOptions& options,
               const std::function<void(const Team& team)>& measure);

}  // namespace tutti::bench
