#pragma once
// What the probe asks. Each function runs in all processes of a team, and tells figures.

#include "tests/gpu/team.hpp"

namespace tutti::gpu {

/// How much is measured.
struct Effort {
  std::int64_t most_bytes;  ///< Bytes of the longest copy.
  int rounds;               ///< Measurements, of which the median counts.
  int repetitions;          ///< How often a round repeats a short operation.
};
inline constexpr Effort whole{std::int64_t{256} << 20, 7, 200}, quick{std::int64_t{64} << 10, 3, 5};

// Questions that one process answers.
void ask_device(Team& team, const Effort& effort);
void ask_copies(Team& team, const Effort& effort);
void ask_latencies(Team& team, const Effort& effort);
void ask_graphs(Team& team, const Effort& effort);
void ask_reductions(Team& team, const Effort& effort);
void ask_host_flags(Team& team, const Effort& effort);
void ask_contexts(Team& team, const Effort& effort);
void ask_waiting_streams(Team& team, const Effort& effort);

// Questions for several processes.
void ask_flag_hops(Team& team, const Effort& effort);
void ask_ipc_of_one_device(Team& team, const Effort& effort);
void ask_ipc_between_devices(Team& team, const Effort& effort);
void ask_ipc_events(Team& team, const Effort& effort);
void ask_small_buffers(Team& team, const Effort& effort);
void ask_sharing(Team& team, const Effort& effort);

}  // namespace tutti::gpu
