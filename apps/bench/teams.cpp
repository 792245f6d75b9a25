#include "apps/bench/teams.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "apps/options.hpp"
#include "apps/root.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "tutti/error.hpp"

namespace tutti::bench {

Communicator made_communicator(MPI_Comm mpi, const CommunicatorOptions& options) {
  try {
    return Communicator{mpi, options};
  } catch (const ArgumentError& error) {
    throw apps::InputError(error.what());
  }
}

void sleeping_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(mpi::api.Ibarrier(comm, &request), "MPI_Ibarrier");
  for (int is_over = 0;;) {
    mpi::check(mpi::api.Test(&request, &is_over, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_over != 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds{500});
  }
}

void with_team(int ranks, const Communicator& comm, const CommunicatorOptions& options,
               const std::function<void(const Team& team)>& measure) {
  if (ranks == comm.size()) return measure({MPI_COMM_WORLD, comm});
  const bool is_member = comm.rank().value() < ranks;
  MPI_Comm mpi = MPI_COMM_NULL;
  mpi::check(mpi::api.Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED, comm.rank().value(), &mpi),
             "MPI_Comm_split");
  std::string failure;
  if (is_member) {
    try {
      measure({mpi, made_communicator(mpi, options)});
    } catch (const apps::InputError& error) {
      failure = error.what();
    }
    mpi::check(mpi::api.Comm_free(&mpi), "MPI_Comm_free");
  }
  sleeping_barrier(MPI_COMM_WORLD);
  apps::refuse_if_any(MPI_COMM_WORLD, failure);
}

}  // namespace tutti::bench
