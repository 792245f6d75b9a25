#include "apps/bench/peer.hpp"

#include <climits>

namespace tutti::bench {

MpiRequests::~MpiRequests() {
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

void MpiRequests::start_and_wait() {
  if (requests_.size() == 1) {
    mpi::check(MPI_Start(requests_.data()), "MPI_Start");
    mpi::check(MPI_Wait(requests_.data(), MPI_STATUS_IGNORE), "MPI_Wait");
    return;
  }
  const int count = static_cast<int>(requests_.size());
  mpi::check(MPI_Startall(count, requests_.data()), "MPI_Startall");
  mpi::check(MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

MpiArguments::MpiArguments(const Call& call)
    : in(call.is_in_place ? MPI_IN_PLACE : call.in),
      out(call.out),
      // Where blocks are equal only they need to fit an int.
      count(static_cast<int>(call.count.value())),
      block(mpi::narrow(call.block().value())),
      root(call.root.value()),
      type(mpi_type_of_size(call.type)),
      op(mpi_op(call.op.kind()).value_or(MPI_OP_NULL)) {}

}  // namespace tutti::bench
