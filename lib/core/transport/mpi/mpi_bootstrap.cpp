#include "lib/core/transport/mpi/mpi_bootstrap.hpp"

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::mpi {
namespace {

int counted(std::size_t amount) { return narrow(static_cast<std::int64_t>(amount)); }

}  // namespace

MpiBootstrap::MpiBootstrap(MPI_Comm comm) : Bootstrap(rank_in(comm), ranks_in(comm)), comm_(comm) {}

void MpiBootstrap::broadcast(void* data, std::size_t bytes, int root) const {
  check(api.Bcast(data, counted(bytes), MPI_BYTE, root, comm_), "MPI_Bcast");
}

void MpiBootstrap::gather_to_all(const void* mine, std::size_t bytes, void* all) const {
  check(api.Allgather(mine, counted(bytes), MPI_BYTE, all, counted(bytes), MPI_BYTE, comm_), "MPI_Allgather");
}

int MpiBootstrap::sum_on_first(int number) const {
  int sum = 0;
  check(api.Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, 0, comm_), "MPI_Reduce");
  return sum;
}

void MpiBootstrap::and_of_all(std::span<int> flags) const {
  check(api.Allreduce(MPI_IN_PLACE, flags.data(), counted(flags.size()), MPI_INT, MPI_LAND, comm_), "MPI_Allreduce");
}

void MpiBootstrap::barrier() const { check(api.Barrier(comm_), "MPI_Barrier"); }

}  // namespace tutti::mpi
