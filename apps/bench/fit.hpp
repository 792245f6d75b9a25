#pragma once
// The rates of `tutti simulate`, fitted to what was measured here: --fit.

#include <string>

#include "apps/bench/machine.hpp"
#include "apps/bench/pairs.hpp"

namespace tutti::bench {

/// A file of rates (docs/simulation.md). From the usual figures of pairs: the overhead is the time of a short message
/// among many; a latency is half the time of a message and its answer, less the overheads of both ends; links between
/// nodes are those of a crossbar. The reductions and copies of 1 MiB are measured here. What nobody measured is left
/// out: it has its default.
[[nodiscard]] std::string rates_text(const Machine& machine, const Pairs& pairs);

}  // namespace tutti::bench
