#pragma once
// What the interposer knows of this process, from MPI_Init to MPI_Finalize.

#include <mpi.h>

#include <memory>

#include "interpose/policy.hpp"
#include "interpose/target.hpp"

namespace tutti::interpose {

/// MPI was initialised: finds out what rank 0's user wants, and makes the communicator of the world. Collective. The
/// end comes with MPI_Finalize, whoever calls it: after the program's own callbacks there it reports, and closes all
/// communicators.
void begin() noexcept;

/// The communicator as a target of blocking and persistent calls of a function. It is made if it is used for the first
/// time, which is collective: only for functions that are wanted and, unless the user has named what to serve, only for
/// those in which ranks of MPI wait for all others, too.
/// nullptr: the process serves no calls, this is no communicator, or it is not known yet. Costs a look into the
/// attributes, or less if it repeats.
[[nodiscard]] Target* find_target(Function function, MPI_Comm comm);
/// The same, but nullptr for a communicator that was not used yet: local, as nonblocking calls have to be. All ranks
/// find the same, since they make the collective calls on a communicator in the same order.
[[nodiscard]] Target* find_known_target(MPI_Comm comm);
/// A target that stays until the last of its requests is over, though its communicator be freed.
[[nodiscard]] std::shared_ptr<Target> keep_target(const Target& target);
/// Whether some calls are served.
[[nodiscard]] bool is_serving();

}  // namespace tutti::interpose
