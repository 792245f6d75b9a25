#pragma once
// Which algorithm runs when the user does not say.

#include <string_view>

#include "lib/runtime/settings.hpp"
#include "tutti/op.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// What a choice depends on: only what all ranks know alike, so that all choose the same.
struct Question {
  Collective collective = Collective::barrier;
  int ranks = 1, nodes = 1;
  Bytes bytes{};  ///< Of the larger buffer; meaningless if `is_uneven` and ranks know only their own counts.
  bool is_uneven = false, is_commutative = true;
  bool shares_memory = false;  ///< All messages go through shared memory.
};

struct Selection {
  Choice choice;
  std::string_view why;  ///< "as few bytes want few rounds"
};

/// The first line of the table in selection.cpp that fits; before it, what `settings` say for the collective, unless
/// that needs a commutative operation and this is not one. A pure function.
[[nodiscard]] Selection select(const Question& question, const Settings& settings);

}  // namespace tutti
