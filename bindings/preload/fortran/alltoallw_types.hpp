#pragma once

#include <mpi.h>

#include <vector>

namespace tutti::interpose::fortran {

/// The datatypes of an alltoallw, one for each peer, as C's.
struct AlltoallwTypes {
  std::vector<MPI_Datatype> send, receive;
};

/// Converts the types of a call on `comm`. In place, MPI ignores those of the send side, which may be anything; they
/// become those of the receive side. Returns an error code of MPI, if it refuses `comm`.
[[nodiscard]] int convert(const void* in, const MPI_Fint* send, const MPI_Fint* receive, MPI_Comm comm,
                          AlltoallwTypes& types);

/// Keeps `types`, which MPI may read until the operation of `request` is over. They are freed when another operation
/// gets the same handle, which shows that this one is over; so no more are kept than there were requests at one time.
void keep(MPI_Request request, AlltoallwTypes types);

}  // namespace tutti::interpose::fortran
