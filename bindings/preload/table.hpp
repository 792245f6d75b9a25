#pragma once
// Where Tutti is faster than MPI, as measured: on this machine, by the site's rules, or else on others, by a table.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "bindings/preload/functions.hpp"
#include "lib/core/selection/rules.hpp"

namespace tutti::interpose {

/// The calls of one function that are served, by the bytes in their larger buffer.
class ServedBytes {
 public:
  ServedBytes() = default;  ///< None.
  static ServedBytes all() { return {{Range{}}}; }
  /// The ranges come in order and do not overlap.
  ServedBytes(std::vector<Range> ranges) : ranges_(std::move(ranges)) {}
  [[nodiscard]] bool contain(std::int64_t bytes) const {
    return std::ranges::any_of(ranges_, [bytes](const Range& range) { return range.contains(bytes); });
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_{};
};

/// What all ranks of a communicator know alike.
struct Placement {
  Question question{};              ///< Without a collective and bytes.
  bool is_crowded = false;          ///< There are more ranks than processors on a node.
  const RuleTable* site = nullptr;  ///< The rules of the site; nullptr: there are none.
};

/// The calls of a function for which Tutti was measured to be faster: where a rule of the site has both times, these
/// decide, else the table.
[[nodiscard]] ServedBytes worthwhile(Function function, const Placement& placement);

}  // namespace tutti::interpose
