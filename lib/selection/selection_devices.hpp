#pragma once
// Which algorithm runs where the ranks of a node map each other's memory on devices.

#include <optional>

#include "lib/selection/selection.hpp"

namespace tutti {

/// The first line of the table in selection_devices.cpp that fits; none where the usual rules hold. A pure function.
[[nodiscard]] std::optional<Selection> select_for_devices(const Question& question);

}  // namespace tutti
