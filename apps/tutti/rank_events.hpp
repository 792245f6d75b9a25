#pragma once
// Steps of all ranks that know the other ends of their messages, but not the numbers of these.

#include <vector>

#include "tutti/schedule.hpp"

namespace tutti::tool {

struct RankEvent {
  static constexpr int nobody = -1;
  int rank;
  Action action;
  std::vector<int> after{};  ///< Earlier events of the same rank.
  int partner = nobody;      ///< The other end of a message; of a receive, an earlier event.
};

/// Appends the events to the schedules of their ranks, in one order in which the two ends of each message are next to
/// each other: messages of a pair are numbered in this order, and so alike on both sides. If there is none, as the
/// events wait for each other in a circle if sends wait for their receives, the order is that of the list.
void append_in_order(std::vector<RankEvent> events, std::vector<Schedule>& schedules);

}  // namespace tutti::tool
