#pragma once
// The whole of a run: every collective, size, placement and algorithm, measured, checked, printed.

#include <span>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/bench/records.hpp"
#include "apps/bench/settings.hpp"
#include "tutti/communicator.hpp"

namespace tutti::bench {

/// Collective over `comm`, which is all of MPI_COMM_WORLD. Rank 0 prints the tables to stdout and gets the records.
/// Throws apps::InputError, on all ranks alike, if the memory does not suffice.
[[nodiscard]] std::vector<Record> run(std::span<const Experiment> experiments, const Settings& settings,
                                      const Machine& machine, const Communicator& comm);

}  // namespace tutti::bench
