#pragma once
// One problem as all ranks together have it, with everything that their views of it refer to.

#include <memory>
#include <vector>

#include "rank_schedules.hpp"

namespace tutti::checker {

enum class Placement : std::uint8_t { separate, in_place, in_place_on_even_ranks };
[[nodiscard]] std::string_view to_string(Placement placement);

/// A case to be proved.
struct Case {
  int size = 1;
  Count count{};
  Placement placement = Placement::separate;
  Rank root{};
  int parameter = 0;  ///< 0: the algorithm's fallback.
  /// Blocks of differing sizes: one count per rank; for alltoall one per sender and, within it, receiver. In place,
  /// those must be symmetric. Empty: blocks of `count` elements.
  std::vector<Count> counts{};
  std::vector<int> nodes{};  ///< As in Problem.
  std::vector<int> sockets{};
  Count gap{};  ///< Elements left free before each of these blocks, where the collective takes offsets.
  // The passes that the schedules went through (lib/core/schedule/passes.hpp).
  Count segment{};  ///< 0: not segmented.
  bool is_fused = false;
};
/// "5 ranks, 37 elements, root 2, in place"
[[nodiscard]] std::string to_text(const Case& what);

/// The problem of each rank.
class Problems {
 public:
  /// Runs the algorithm's exchange of sizes, if it has one and needs it. Throws Fault if that is not right.
  Problems(const Algorithm& algorithm, const Case& what);
  [[nodiscard]] int size() const { return static_cast<int>(problems_.size()); }
  [[nodiscard]] const Problem& of(Rank rank) const { return problems_[static_cast<std::size_t>(rank.value())]; }

 private:
  using Lists = std::vector<std::vector<Count>>;
  void list_blocks(const Case& what);
  void list(Rank rank, std::vector<Count> in, std::vector<Count> out, Count gap);
  [[nodiscard]] BlockList keep(std::vector<Count> counts, Count gap);
  std::vector<Problem> problems_;
  std::shared_ptr<Lists> lists_ = std::make_shared<Lists>();
  std::shared_ptr<const std::vector<int>> nodes_, sockets_;
};

/// A rank's problem but for blocks of differing sizes, the sizes that are learned, and the place of its input. Its
/// nodes and sockets are those of the case, not copies.
[[nodiscard]] Problem even_problem(const Algorithm& algorithm, const Case& what, Rank rank);

/// The schedules of the ranks.
[[nodiscard]] RankSchedules schedules_of(const Algorithm& algorithm, const Problems& problems);
/// The schedules after the passes of the case.
[[nodiscard]] RankSchedules schedules_of(const Algorithm& algorithm, const Problems& problems, const Case& what);
[[nodiscard]] RankSchedules schedules_of(const Algorithm& algorithm, const Case& what);

}  // namespace tutti::checker
