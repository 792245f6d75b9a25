#pragma once
// One collective as `tutti show` shows it: the choice and case asked for, and the schedules of all ranks.

#include <string>
#include <vector>

#include "lib/checker/problems.hpp"
#include "lib/schedule/choice.hpp"

namespace tutti::tool {

struct Scene {
  /// Throws InputError if the schedules cannot be made.
  Scene(const Choice& choice, const checker::Case& what);

  Choice choice;
  checker::Case what;
  checker::Problems problems;
  checker::Parts parts;
  Cost cost;  ///< Of the busiest rank, as counted.

  [[nodiscard]] const Problem& problem(int rank) const { return problems.of(Rank{rank}); }
  [[nodiscard]] const checker::Part& part(int rank) const { return parts[static_cast<std::size_t>(rank)]; }
  /// "allreduce ring, 6 ranks, 24 elements, separate"
  [[nodiscard]] std::string title() const;
  /// "10 messages, 10 rounds, 40 elements sent, 20 reduced, 4 of scratch"
  [[nodiscard]] std::string cost_text() const;
};

/// Graphviz: the steps of each rank in a box, their dependencies, and the messages.
[[nodiscard]] std::string to_dot(const Scene& scene);
/// All that there is to know: see docs/tool.md. `rank` -1: every rank.
[[nodiscard]] std::string to_json(const Scene& scene, int rank);
/// A picture of ranks and time steps.
[[nodiscard]] std::string to_svg(const Scene& scene);

}  // namespace tutti::tool
