#include "prove.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "form.hpp"
#include "graph.hpp"
#include "meeting.hpp"
#include "races.hpp"
#include "rounds.hpp"

namespace tutti::checker {
namespace {

/// The order under one credit. It has all edges of the weaker kinds of flow control: if it exists, none deadlocks.
std::vector<int> order_without_deadlock(const Graph& graph) {
  if (Ordering ordering = graph.order(Flow::one_credit); ordering.cycle.empty()) return std::move(ordering.events);
  constexpr std::size_t most_shown = 8;
  for (const Flow flow : {Flow::eager, Flow::rendezvous, Flow::one_credit}) {
    const std::vector<int> cycle = graph.order(flow).cycle;
    if (cycle.empty()) continue;
    Fault fault;
    std::string chain;
    int last = Graph::nobody;
    for (std::size_t shown = 0; const int event : cycle) {
      const int step = Graph::step_of(event);
      if (step == last) continue;
      if (++shown > most_shown) break;
      chain += (last == Graph::nobody ? "" : " waits for ") + graph.describe(step);
      fault.positions.push_back(graph.position(step));
      last = step;
    }
    fault.text = fmt::format("deadlock under {} flow control: {} ... and so round", to_string(flow), chain);
    throw Fault{fault};
  }
  return {};
}

/// The longest chain of messages.
int count_rounds(const Graph& graph, const std::vector<int>& order) {
  const std::vector<int> chains = chains_of(graph, order);
  return chains.empty() ? 0 : std::ranges::max(chains);
}

std::string text(const Cost& cost) {
  return fmt::format("messages {}, rounds {}, sent {}, reduced {}, copied {}, scratch {}", cost.messages, cost.rounds,
                     cost.sent.value(), cost.reduced.value(), cost.copied.value(), cost.scratch.value());
}

/// Whether the stated cost is exact, or only a bound.
bool is_exact(const Algorithm& algorithm, const Case& what, const Problem& problem) {
  if (!has_equal_levels(problem, algorithm)) return false;
  if (algorithm.collective == Collective::barrier) return true;
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(what.size)));
  const auto divides = [&](int schedules) { return what.count % schedules == Count{0}; };
  return what.counts.empty() && what.count > Count{0} && what.placement == Placement::separate && divides(what.size) &&
         divides(core) && divides(std::max(problem.parameter, 1));
}

/// The fault of the stated cost; empty if there is none.
std::string cost_fault(const Algorithm& algorithm, const Case& what, const std::vector<Cost>& costs) {
  if (algorithm.cost == nullptr || !what.counts.empty() || what.segment > Count{0}) return {};
  const Problem problem = even_problem(algorithm, what, Rank{0});
  const Cost stated = cost_of(algorithm, problem), most = busiest(costs);
  const bool in_place = what.placement != Placement::separate;
  const bool bounded = most.messages <= stated.messages && most.rounds <= stated.rounds && most.sent <= stated.sent &&
                       most.reduced <= stated.reduced && (in_place || most.copied <= stated.copied) &&
                       (in_place || most.scratch <= stated.scratch);
  if (is_exact(algorithm, what, problem) ? most == stated : bounded) return {};
  return fmt::format("the stated cost ({}) is not that of the busiest rank ({})", text(stated), text(most));
}

}  // namespace

Verdict prove(const RankSchedules& schedules, const Expectation& expectation) try {
  require_form(schedules);
  const Graph graph{schedules};
  const std::vector<int> order = order_without_deadlock(graph);
  for (int rank = 0; const RankSchedule& own : schedules)
    require_no_races(Rank{rank++}, own);
  Values values{schedules};
  Memory memory{schedules, values};
  if (expectation.gathers) memory.require_gathering();
  run_in_order(order, graph, memory, values);
  require_results(schedules, expectation, memory, values);
  if (expectation.synchronizes) require_meeting(graph, order, static_cast<int>(schedules.size()));
  Verdict verdict{.steps = static_cast<std::size_t>(graph.steps())};
  const int longest = count_rounds(graph, order);
  for (const RankSchedule& own : schedules) {
    verdict.costs.push_back(counted(own.schedule));
    verdict.costs.back().rounds = longest;
  }
  return verdict;
} catch (const Fault& fault) {
  return {.fault = fault.text, .positions = fault.positions};
}

Verdict prove(const Algorithm& algorithm, const Case& what) try {
  const Problems problems{algorithm, what};
  Verdict verdict = prove(schedules_of(algorithm, problems, what), expectation_of(algorithm, problems));
  if (verdict.proved()) verdict.fault = cost_fault(algorithm, what, verdict.costs);
  return verdict;
} catch (const Fault& fault) {
  return {.fault = fault.text, .positions = fault.positions};
} catch (const std::exception& error) {
  return {.fault = error.what()};
} catch (...) {
  return {.fault = "its function 'build' threw something that is no std::exception"};
}

Cost counted(const RankSchedules& schedules) {
  const Graph graph{schedules};
  std::vector<Cost> costs;
  costs.reserve(schedules.size());
  for (const RankSchedule& own : schedules)
    costs.push_back(counted(own.schedule));
  Cost most = busiest(costs);
  most.rounds = count_rounds(graph, order_without_deadlock(graph));
  return most;
}

}  // namespace tutti::checker
