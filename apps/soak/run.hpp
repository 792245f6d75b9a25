#pragma once
// The whole of a run: rounds of random calls by all threads, and figures between them.

#include <string>
#include <vector>

#include "apps/soak/settings.hpp"

namespace tutti::soak {

/// Collective over MPI_COMM_WORLD. Rank 0 prints the figures. `arguments`: the command line. Returns the exit code,
/// the same on all ranks. A call that fails, and a hang, end the process.
/// Throws apps::InputError on all ranks alike.
[[nodiscard]] int run(const Settings& settings, const std::vector<std::string>& arguments);

}  // namespace tutti::soak
