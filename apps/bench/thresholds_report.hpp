#pragma once
// Measured thresholds, as text and as JSON.

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "apps/bench/machine.hpp"
#include "apps/bench/thresholds.hpp"

namespace tutti::bench {

/// "65536", "always", "never", "no clear difference": up to where the first way is to be taken.
[[nodiscard]] std::string crossing_text(const Crossing& crossing);
/// The same of rules that hold for up to so many ranks, measured on `ranks`.
[[nodiscard]] std::string ranks_text(const Crossing& crossing, int ranks);

/// The times of one threshold: a heading, then a line for each size.
[[nodiscard]] std::string to_text(const Threshold& threshold);
/// A line for each threshold; all start with '#'.
[[nodiscard]] std::string summary_text(std::span<const Threshold> thresholds);

/// {"environment": {...}, "thresholds": [...]}.
[[nodiscard]] std::string json_text(const Machine& machine, std::span<const Threshold> thresholds);

}  // namespace tutti::bench
