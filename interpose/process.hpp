#pragma once
// What the interposer knows of this process, from MPI_Init to MPI_Finalize.

#include <mpi.h>

#include <memory>

#include "interpose/policy.hpp"
#include "interpose/target.hpp"

namespace tutti::interpose {

/// MPI was initialised: finds out what rank 0's user wants, and makes the communicator of the world. Collective.
void begin() noexcept;
/// MPI is about to be finalized: reports, and closes all communicators. Collective.
void end() noexcept;

/// The communicator as a target, which is made if it is used for the first time: collective then. nullptr: the process
/// serves no calls, or this is no communicator. Costs a look into the attributes, or less if it repeats.
[[nodiscard]] Target* find_target(MPI_Comm comm);
/// The same, but nullptr for a communicator that was not used yet: local, as nonblocking calls have to be. All ranks
/// find the same, since they make the collective calls on a communicator in the same order.
[[nodiscard]] Target* find_known_target(MPI_Comm comm);
/// A target that stays until the last of its requests is over, though its communicator be freed.
[[nodiscard]] std::shared_ptr<Target> keep_target(const Target& target);
/// Whether some calls are served.
[[nodiscard]] bool is_serving();

}  // namespace tutti::interpose
