#include "rounds.hpp"

#include <algorithm>

namespace tutti::checker {

std::vector<int> chains_of(const Graph& graph, const std::vector<int>& order) {
  std::vector<int> chains(order.size());
  for (const int event : order) {
    int& longest = chains[static_cast<std::size_t>(event)];
    for (std::size_t k = 0;; ++k) {
      const int before = graph.predecessor(event, k, Flow::eager);
      if (before == Graph::nobody) break;
      const bool arrives = graph.rank(Graph::step_of(before)) != graph.rank(Graph::step_of(event));
      longest = std::max(longest, chains[static_cast<std::size_t>(before)] + (arrives ? 1 : 0));
    }
  }
  return chains;
}

std::vector<std::vector<int>> rounds_of(const RankSchedules& schedules) {
  const Graph graph{schedules};
  const std::vector<int> chains = chains_of(graph, graph.order(Flow::eager).events);
  std::vector<std::vector<int>> rounds(schedules.size());
  for (int step = 0; step < graph.steps(); ++step) {
    const bool sends = std::holds_alternative<Send>(graph.step(step).action);
    const int arrived = chains[static_cast<std::size_t>(Graph::completion(step))];
    rounds[static_cast<std::size_t>(graph.rank(step).value())].push_back(std::max(1, arrived + (sends ? 1 : 0)));
  }
  return rounds;
}

}  // namespace tutti::checker
