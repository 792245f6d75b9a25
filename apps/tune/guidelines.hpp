#pragma once
// What should hold of times: a violation shows a choice that can be bettered, or a disturbed measurement.

#include <string>
#include <vector>

#include "apps/tune/journal.hpp"

namespace tutti::tune {

/// The violations among the points, in words: a collective that takes longer than others which do the same together
/// (performance guidelines of Traeff, Gropp and Thakur, IEEE TPDS 21(5), 2010), and one that takes longer for less
/// data. None is told below a factor of 1.1, or where the middle halves of the rounds overlap.
[[nodiscard]] std::vector<std::string> violations(const Points& points);

}  // namespace tutti::tune
