#pragma once
// Many records in few numbers.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/record.hpp"

namespace tutti::bench {

/// One collective with one algorithm, or with those that Tutti chose ("auto"), over all sizes.
struct Summary {
  std::string collective, algorithm;
  std::optional<double> out_of_place, in_place;  ///< Geometric means of the ratios; nothing if none was compared.
  std::optional<std::int64_t> wrong;             ///< Elements in all; nothing if none were checked.
};

/// In the order in which collectives and algorithms first come.
[[nodiscard]] std::vector<Summary> summarised(std::span<const Record> records);

/// As a table whose lines start with '#', and the wrong elements of all collectives together.
[[nodiscard]] std::string to_text(std::span<const Summary> summaries);

/// "1.234", or "-" if there is none.
[[nodiscard]] std::string ratio_text(const std::optional<double>& ratio);

}  // namespace tutti::bench
