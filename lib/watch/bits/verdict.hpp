#pragma once
// Which call of all ranks was the first to differ between two runs. Clocks of ranks differ: the numbers of calls on
// their communicators say it.

#include <cstdint>
#include <string>
#include <vector>

#include "lib/watch/bits/comparison.hpp"

namespace tutti::bits {

/// The first call on a communicator that differs on a rank.
struct RankDifference {
  int rank = 0;  ///< In MPI_COMM_WORLD.
  Key key{};     ///< Of the beginning of the call.
  Difference what = Difference::inputs;
  bool results_too = false;
  std::string where{};  ///< "call 137 of communicator 0/4 (allreduce of 1000 fp64, sum)"
};
[[nodiscard]] RankDifference difference_of(int rank, const Found& found);

/// The first call on a communicator that differs on any rank, and the ranks on which it does.
struct Verdict {
  Key key{};
  std::string where{};
  std::vector<int> inputs{}, results{}, mismatches{}, missing{};
};
/// One for each communicator on which calls differ. Messages between pairs of ranks are numbered by each rank alone,
/// so each rank has its own.
[[nodiscard]] std::vector<Verdict> verdicts_of(std::vector<RankDifference> differences);
/// Whether the inputs were the same on all ranks that made the call. Not known if some of them were not compared.
[[nodiscard]] bool is_of_result_alone(const Verdict& verdict);
/// "call 137 ...: the program made the difference: inputs differ on rank 2; results differ on ranks 0-3"
/// `not_compared`: ranks of the job whose calls were not, or not all.
[[nodiscard]] std::string in_words(const Verdict& verdict, const std::vector<int>& not_compared);

}  // namespace tutti::bits
