#pragma once
// One collective as `tutti show` shows it: the choice and case asked for, and the schedules of all ranks.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/files/filed_algorithm.hpp"
#include "lib/core/schedule/choice.hpp"
#include "lib/proof/checker/problems.hpp"
#include "lib/proof/checker/prove.hpp"
#include "lib/proof/cost/simulate.hpp"
#include "tutti/offline.hpp"

namespace tutti::tool {

/// Whether schedules that are not proved are shown, with the fault marked.
enum class Unproved : std::uint8_t { refused, shown };

struct Scene {
  /// Throws std::runtime_error with the fault if the schedules are not proved and are to be refused.
  Scene(const Choice& choice, const checker::Case& what, Unproved unproved = Unproved::refused);
  /// Schedules that are built in another way than the choice's algorithm says, proved or not.
  Scene(const Choice& choice, const checker::Case& what, const std::function<Schedule(const Problem& problem)>& build);

  Choice choice;
  checker::Case what;
  checker::Problems problems;
  checker::RankSchedules schedules;
  checker::Verdict verdict;
  Cost cost;  ///< The cost of the busiest rank, as counted; only if proved.
  /// Of a file: the bytes of the larger buffer that it is for.
  std::int64_t least_bytes = 0, most_bytes = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] const Problem& problem(int rank) const { return problems.of(Rank{rank}); }
  [[nodiscard]] const checker::RankSchedule& schedule_of(int rank) const {
    return schedules[static_cast<std::size_t>(rank)];
  }
  /// "allreduce ring, 6 ranks, 24 elements, separate"
  [[nodiscard]] std::string title() const;
  /// "10 messages, 10 rounds, 40 elements sent, 20 reduced, 4 of scratch"; of schedules that are not proved, the fault.
  [[nodiscard]] std::string cost_text() const;
  /// Whether the fault names the rank, or one of its steps.
  [[nodiscard]] bool names(int rank) const;
  /// Whether the fault names the step.
  [[nodiscard]] bool is_faulty(int rank, int step) const;
};

/// The schedules of a file, as those of an algorithm that has the file's name.
class FiledScene {
 public:
  /// On so many elements. Throws InputError if the file cannot be used for them, or is refused as not proved.
  FiledScene(const ScheduleFile& file, Count count, bool is_fused, Unproved unproved);
  [[nodiscard]] const Scene& scene() const { return *scene_; }

 private:
  FiledAlgorithm algorithm_;
  std::optional<Scene> scene_{};
};

/// The steps of each rank by rounds; of schedules that are not proved, by number, with what the fault names marked.
/// `rank` -1: every rank.
[[nodiscard]] std::string to_text(const Scene& scene, int rank);
/// Graphviz: the steps of each rank in a box, their dependencies, and the messages.
[[nodiscard]] std::string to_dot(const Scene& scene);
/// All that there is to know: see docs/tool.md. `rank` -1: every rank.
[[nodiscard]] std::string to_json(const Scene& scene, int rank);
/// A picture of ranks and time steps. Of schedules that are not proved, as far as they get; InputError if nothing can
/// be played, as regions leave their buffers.
[[nodiscard]] std::string to_svg(const Scene& scene);

/// The rates of a simulation.
[[nodiscard]] Rates rates_of(const offline::Network& network);

/// Throws InputError where there are more steps than a drawing can show.
void require_drawable(const Scene& scene);

}  // namespace tutti::tool
