#pragma once
// The devices that ranks use, and what calls on their memory cost beside time.

#include <string>

#include "apps/bench/collective.hpp"
#include "apps/bench/record.hpp"

namespace tutti::bench {

/// Collective over `comm`. Makes the device `local rank % devices` ready on each rank, for a memory that needs one.
/// Returns its number, how many there are and its name; empty: the memory needs none. Throws apps::InputError, on all
/// ranks alike, if one has no device.
[[nodiscard]] std::string choose_device(const BenchMemory& memory, const Communicator& comm);

/// Whether MPI's own calls take such memory: one that knows nothing of CUDA crashes on memory of a device.
[[nodiscard]] bool mpi_takes(const BenchMemory& memory);

/// Collective over `comm`. Makes some calls more, and counts what they need.
[[nodiscard]] DeviceWork work_of(Repeater& ours, const Communicator& comm);

}  // namespace tutti::bench
