#pragma once
// The figures for people and as JSON.

#include <string>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/json.hpp"
#include "apps/soak/figures.hpp"
#include "apps/soak/settings.hpp"

namespace tutti::soak {

/// The facts of a run that the lines of figures do not repeat.
struct RunFacts {
  bench::Machine machine;
  std::uint64_t seed = 0;
  int threads = 1;
  std::int64_t most_bytes = 0;
  std::string transport, memories;
};

/// The figures at a moment.
struct Moment {
  double seconds = 0;             ///< Since the start.
  double of_interval = 0;         ///< Seconds since the moment before,
  std::int64_t calls_before = 0;  ///< and the calls until then.
  std::vector<RankFigures> ranks;
};

/// Lines that start with '#': the facts, and the titles of the lines of figures.
[[nodiscard]] std::string preface(const RunFacts& facts);
/// A line; with `by_node` one more for each node.
[[nodiscard]] std::string line_of(const Moment& moment, bool by_node);

/// The tables at the end, a line for each growth without bound, and the verdict: "24310 calls, 0 wrong, memory +12 KiB,
/// descriptors +0".
[[nodiscard]] std::string conclusion(const Moment& end);
/// Whether the run shows no fault.
[[nodiscard]] bool is_well(const std::vector<RankFigures>& ranks);

[[nodiscard]] std::int64_t calls_of(const RankFigures& figures);

/// {"environment": {...}, "seed": ..., "seconds": ..., "calls": ..., "wrong": ..., "well": ..., "collectives": [...],
/// "messages": {...}, "resources": [...], "reports": [...]}.
[[nodiscard]] apps::Json to_json(const RunFacts& facts, const Moment& end, const apps::Json& reports);
/// An entry of "reports".
[[nodiscard]] apps::Json to_json(const Moment& moment);

}  // namespace tutti::soak
