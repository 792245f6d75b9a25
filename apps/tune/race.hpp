#pragma once
// Which algorithm is the fastest for one call of one size.

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/buffers.hpp"
#include "apps/tune/contexts.hpp"

namespace tutti::tune {

/// One way of making the call: an algorithm as rules name it, or "mpi", the MPI's own collective.
struct Timed {
  std::string use;
  double us = 0, lower = 0, upper = 0;  ///< The median of the rounds, and the ends of their middle half.
  double fastest = 0;
  int runs = 0;  ///< Rounds.
};
inline constexpr std::string_view mpi_way = "mpi";

/// The measurements at one size.
struct Point {
  std::int64_t bytes = 0;     ///< Of the larger buffer.
  std::string builtin{};      ///< What the built-in rules take.
  std::string use{};          ///< What is taken: `builtin`, unless another one is clearly faster.
  std::vector<Timed> ways{};  ///< All, those that were given up soon as well.
  [[nodiscard]] const Timed* find(std::string_view wanted) const;
};
/// Another algorithm is taken if it is faster by this factor, and the middle halves of the rounds do not overlap.
inline constexpr double least_gain = 1.05;
/// The way to take.
[[nodiscard]] std::string winner(const Point& point);

/// The ranks and the calls of a context.
struct Track {
  const Team& team;
  const bench::Experiment& what;
};

/// Collective over the team, with the same result on all of its ranks. Rounds in turns: three for each candidate, ten
/// for the faster half of them, forty for the two fastest, the built-in choice, and the MPI's own. These forty are on
/// four communicators, each with buffers of its own, at the beginning of larger ones or not: a plan whose memory
/// happens to lie well stays fast as long as it lives, which no number of rounds shows. A round is the mean of the
/// placements, as rules know none. A candidate whose fastest round is a quarter above the best median is given up.
/// `seconds`: about so long it may take, so that long calls get fewer rounds, and fewer candidates are tried, the first
/// ones. `keeps_all`: all candidates are measured as often.
[[nodiscard]] Point race(const Track& track, Count count, const std::vector<std::string>& candidates, double seconds,
                         bool keeps_all = false);

/// Collective over the team. Measures the choice and the built-in one once more, if they differ: in each placement by
/// itself, so that the choice has to be the faster one in each.
void race_again(const Track& track, Count count, Point& point, double seconds);
/// Takes in the times of a later race, the same ways in another hour: a machine may favour one algorithm for a while.
/// The choice stays if it was the faster one in this race, too, and is still as much faster over all of them as it has
/// to be. Otherwise the built-in one is taken.
void add_later(Point& point, const std::vector<Timed>& later);

}  // namespace tutti::tune
