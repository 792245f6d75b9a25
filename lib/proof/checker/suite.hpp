#pragma once
// Which problems an algorithm is proved for.

#include <cstdint>
#include <vector>

#include "problems.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::checker {

/// - subset: the cases that every build proves, in about a second per algorithm;
/// - all: every size up to 64 and some larger ones, with more counts, placements, roots, parameters and lists of
/// blocks.
enum class Extent : std::uint8_t { subset, all };

/// The cases to prove, by growing size. The same ones at every call. Properties that an algorithm's collective does not
/// have are not varied: roots, uneven blocks, parameters. Collectives whose schedules grow with the square of the size
/// get thinner samples of large ones.
[[nodiscard]] std::vector<Case> cases_of(const Algorithm& algorithm, Extent extent);

/// Spreads the ranks of a case over nodes, and sockets, of differing sizes that hold ranks which do not follow each
/// other, if the algorithm has these levels.
void mix_levels(Case& what, const Algorithm& algorithm);

}  // namespace tutti::checker
