#pragma once
// The devices that ranks use, and what calls on their memory cost beside time.

#include <cstdint>
#include <string>

#include "apps/bench/collective.hpp"
#include "apps/bench/memory.hpp"
#include "apps/bench/records.hpp"

namespace tutti::bench {

/// Collective over `comm`. Makes the device `local rank % devices` ready on each rank, for a memory that needs one.
/// Returns its number, how many there are and its name; empty: the memory needs none. Throws apps::InputError, on all
/// ranks alike, if one has no device.
[[nodiscard]] std::string choose_device(const BenchMemory& memory, const Communicator& comm);

/// Whether MPI's own calls take such memory: one that knows nothing of CUDA crashes on memory of a device.
[[nodiscard]] bool mpi_takes(const BenchMemory& memory);

/// The least bytes that a call has this rank read and write, on all devices together: each input is read once, each
/// output written once, and what is in its place already is neither.
[[nodiscard]] std::int64_t least_traffic(const BenchCollective& collective, const Call& call);

/// Collective over `comm`. Makes some calls more, and counts what they need.
[[nodiscard]] DeviceWork work_of(const BenchCollective& collective, const Call& call, Repeater& ours,
                                 const Communicator& comm);

}  // namespace tutti::bench
