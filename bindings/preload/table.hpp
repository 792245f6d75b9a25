#pragma once
// Where Tutti is faster than MPI, as measured.

#include <cstdint>
#include <limits>

#include "bindings/preload/functions.hpp"

namespace tutti::interpose {

/// The calls of one function that are served: those with so many bytes in their larger buffer, from `least` to `most`.
struct ServedBytes {
  std::int64_t least = 0, most = -1;  ///< None.
  [[nodiscard]] bool contain(std::int64_t bytes) const { return bytes >= least && bytes <= most; }
  static ServedBytes all() { return {0, std::numeric_limits<std::int64_t>::max()}; }
};

/// What all ranks of a communicator know alike.
struct Placement {
  int ranks = 1, nodes = 1;
  bool shares_processors = false;  ///< There are more ranks than processors on a node.
};

/// The calls of a function for which the table says that Tutti is faster.
[[nodiscard]] ServedBytes worthwhile(Function function, const Placement& placement);

}  // namespace tutti::interpose
