#pragma once
// The sizes that are measured, in the time that there is.

#include <vector>

#include "apps/tune/candidates.hpp"
#include "apps/tune/journal.hpp"
#include "apps/tune/race.hpp"

namespace tutti::tune {

/// The time of a run, shared out among the sizes that are still to be measured.
class Budget {
 public:
  /// `contexts`: so many are to be measured, each of `coarse` sizes and about as many where the choice changes.
  Budget(double seconds, std::size_t contexts, std::size_t coarse);
  /// The seconds for the next size; negative: the run was interrupted. Rank 0 of the team says it for all: collective.
  [[nodiscard]] double next(const Team& team) const;
  /// Whether the time is over, so that no context may begin. Collective.
  [[nodiscard]] bool is_over(const Team& team) const;
  /// A size was measured.
  void spend() { left_ = left_ > 1 ? left_ - 1 : 1; }
  /// A context is over: the sizes that it did not need are others'.
  void end_context();
  [[nodiscard]] double seconds_left() const;
  /// The least that a size takes.
  static constexpr double least_for_a_size = 0.1;
  /// Sizes of a context: the coarse ones, and those where the choice changes.
  static constexpr double sizes_for_a_coarse_one = 2;

 private:
  double end_;
  std::size_t contexts_;
  double a_context_, left_;
};

/// After SIGINT or SIGTERM the run ends at the next size.
void end_at_signals();
[[nodiscard]] bool is_interrupted();

/// The sizes that are measured in any case, in elements of fp32 of the larger buffer: a factor of 16 apart.
[[nodiscard]] std::vector<Count> coarse_counts(const Context& context, const Settings& settings, int ranks);

struct Found {
  std::vector<Point> points{};  ///< By size.
  bool is_whole = true;         ///< False: interrupted.
};
/// Collective over the team. The coarse sizes, then sizes between two whose choices differ, until these are a factor of
/// 1.25 apart. Points of an earlier run are taken as they are.
[[nodiscard]] Found search(const Context& context, const Team& team, const Settings& settings, const Prices& prices,
                           Budget& budget, Journal& journal);
/// Collective over the team. Measures once more, for so many seconds each, the points at which another algorithm than
/// the built-in one is taken. False: interrupted.
[[nodiscard]] bool confirm(const Context& context, const Team& team, std::vector<Point>& points, double seconds);

}  // namespace tutti::tune
