#pragma once
// Measures what the library's thresholds for buffers on devices decide between: --thresholds.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/bench/settings.hpp"
#include "tutti/communicator.hpp"

namespace tutti::bench {

/// One threshold, and the two ways that it decides between.
struct Threshold {
  std::string_view member, file;     ///< "DeviceTuning::one_kernel", and where it is.
  std::string_view collective = "";  ///< "allreduce"; what was measured.
  std::string first{}, second{};
  std::int64_t today = 0;
  std::string_view unit = "bytes";
  std::string why_not{};             ///< Not empty: it was not measured.
  std::vector<Comparison> points{};  ///< On rank 0, by size or by value.
  /// "65536"; "always" or "never": the second way is faster at all sizes, or at none; "no clear difference".
  std::string measured = "not measured";
  std::optional<std::int64_t> value{};  ///< The measured one, if it is a number.
  Sides sides{};                        ///< The sides of the measured value, else of today's.
};

/// Every threshold of DeviceTuning and of staging. Collective over `comm`. Rank 0 prints each as it is measured, and
/// gets the numbers. Throws apps::InputError, on all ranks alike, if the memory does not suffice.
[[nodiscard]] std::vector<Threshold> measure_thresholds(const Settings& settings, const Communicator& comm);

/// "65536", "always", "never", "no clear difference": up to where the first way is to be taken.
[[nodiscard]] std::string crossing_text(const Crossing& crossing);
/// The text of a rule that holds for up to so many ranks, measured on `ranks`.
[[nodiscard]] std::string ranks_text(const Crossing& crossing, int ranks);

/// The times of one threshold: a heading, then a line for each size.
[[nodiscard]] std::string to_text(const Threshold& threshold);
/// A line for each threshold; all start with '#'.
[[nodiscard]] std::string summary_text(std::span<const Threshold> thresholds);

/// {"environment": {...}, "thresholds": [...]}.
[[nodiscard]] std::string json_text(const Machine& machine, std::span<const Threshold> thresholds);

}  // namespace tutti::bench
