#include "lib/core/schedule/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lib/core/schedule/regions.hpp"
#include "tutti/error.hpp"

namespace tutti {

Cost counted(const Schedule& schedule) {
  Cost cost{.scratch = schedule.scratch};
  for (const auto& [action, after] : schedule.steps) {
    if (const auto* send = std::get_if<Send>(&action)) ++cost.messages, cost.sent += total(send->from);
    if (const auto* recv = std::get_if<Recv>(&action); recv != nullptr && recv->then)
      cost.reduced += recv->then->into.count;
    if (const auto* reduce = std::get_if<Reduce>(&action)) cost.reduced += reduce->into.count;
    if (const auto* copy = std::get_if<Copy>(&action)) cost.copied += copy->into.count;
  }
  return cost;
}

Cost busiest(std::span<const Cost> costs) {
  Cost most;
  for (const Cost& cost : costs) {
    most.messages = std::max(most.messages, cost.messages);
    most.rounds = std::max(most.rounds, cost.rounds);
    most.sent = std::max(most.sent, cost.sent);
    most.reduced = std::max(most.reduced, cost.reduced);
    most.copied = std::max(most.copied, cost.copied);
    most.scratch = std::max(most.scratch, cost.scratch);
  }
  return most;
}

Schedule schedule_of(const Algorithm& algorithm, const Problem& problem) {
  if (algorithm.data != nullptr) return algorithm.data->build(problem);
  if (algorithm.build == nullptr)
    throw ArgumentError(fmt::format("tutti: {} '{}' is only a name here; needed: a communicator that has read it",
                                    to_string(algorithm.collective), algorithm.name));
  return algorithm.build(problem);
}

Cost cost_of(const Algorithm& algorithm, const Problem& problem) {
  if (algorithm.data != nullptr) return algorithm.data->cost(problem);
  if (algorithm.cost != nullptr) return algorithm.cost(problem);
  std::vector<Cost> costs;
  Problem of_rank = problem;
  for (int rank = 0; rank < problem.size; ++rank) {
    of_rank.rank = Rank{rank};
    costs.push_back(counted(schedule_of(algorithm, of_rank)));
  }
  return busiest(costs);
}

}  // namespace tutti
