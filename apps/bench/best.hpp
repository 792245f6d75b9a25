#pragma once
// The best of several algorithms at each size.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/records.hpp"

namespace tutti::bench {

/// Of the algorithms that were measured in turns, at one size of a collective.
struct Best {
  std::string collective, algorithm, next;
  int ranks = 0;
  std::int64_t bytes = 0, count = 0;
  Placement placement = Placement::out_of_place;
  double time_us = 0;  ///< The median.
  Ratio lead{};        ///< The time of the next one over that.
  /// What Tutti chooses, and its time over that of the best, if it was measured.
  std::string chosen{};
  std::optional<Ratio> chosen_ratio{};
};

/// One for each size at which there are two algorithms or more, in the order of the records.
[[nodiscard]] std::vector<Best> best_of(std::span<const Record> records);

/// A table, with the marks of what is not resolved; nothing if there is none. All lines start with '#'.
[[nodiscard]] std::string to_text(std::span<const Best> all);
[[nodiscard]] apps::Json to_json(const Best& best);

}  // namespace tutti::bench
