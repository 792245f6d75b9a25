#pragma once
// Which algorithm runs on a communicator of several nodes.

#include <optional>

#include "lib/selection/selection.hpp"

namespace tutti {

/// The first line of the table in selection_nodes.cpp that fits; none where ranks are best taken as alike, as where
/// each has a node of its own. A pure function.
[[nodiscard]] std::optional<Selection> select_on_nodes(const Question& question);

}  // namespace tutti
