#pragma once
// The whole of a run: every collective, size, placement and algorithm, measured, checked, printed.

#include <span>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/bench/records.hpp"
#include "apps/bench/settings.hpp"
#include "apps/bench/teams.hpp"

namespace tutti::bench {

/// Collective over the team. Its rank 0 prints the tables to stdout and gets the records. Throws apps::InputError, on
/// all its ranks alike, if the memory does not suffice.
[[nodiscard]] std::vector<Record> run(std::span<const Experiment> experiments, const Settings& settings,
                                      const Machine& machine, const Team& team);

}  // namespace tutti::bench
