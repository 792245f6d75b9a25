#pragma once
// The rates of `tutti simulate`, fitted to what was measured here: --fit.

#include <string>

#include "apps/bench/machine.hpp"
#include "apps/bench/pairs.hpp"

namespace tutti::bench {

/// A file of rates (docs/simulation.md), from the quick quarter of the pairs of each level, and of their rounds: what a
/// scheduler disturbs is slower. The overhead is the time of a short message among many, but no more than a third of
/// the shortest latency; a latency is half the time of a message and its answer, less the overheads of both ends, so
/// that it is never 0; links between nodes are those of a crossbar. The reductions and copies of 1 MiB are measured
/// here. What nobody measured is left out: it has its default.
///
/// If the measurements are too far apart, "made" says why they are not resolved, and so does standard error. Throws
/// InputError if there are fewer than two ranks.
[[nodiscard]] std::string rates_text(const Machine& machine, const Pairs& pairs);

}  // namespace tutti::bench
