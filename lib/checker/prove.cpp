#include "prove.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fault.hpp"
#include "form.hpp"
#include "graph.hpp"
#include "races.hpp"

namespace tutti::checker {
namespace {

/// The order under one credit. It has all edges of the weaker kinds of flow control: if it exists, none deadlocks.
std::vector<int> order_without_deadlock(const Graph& graph) {
  if (Ordering ordering = graph.order(Flow::one_credit); ordering.cycle.empty()) return std::move(ordering.events);
  constexpr std::size_t most_shown = 8;
  for (const Flow flow : {Flow::eager, Flow::rendezvous, Flow::one_credit}) {
    const std::vector<int> cycle = graph.order(flow).cycle;
    if (cycle.empty()) continue;
    std::string chain;
    int last = Graph::nobody;
    for (std::size_t shown = 0; const int event : cycle) {
      const int step = Graph::step_of(event);
      if (step == last) continue;
      if (++shown > most_shown) break;
      chain += (last == Graph::nobody ? "" : " waits for ") + graph.describe(step);
      last = step;
    }
    throw Fault{fmt::format("deadlock under {} flow control: {} ... and so round", to_string(flow), chain)};
  }
  return {};
}

/// For each event of an eager run, the longest chain of messages that arrived by then; the longest of all.
int rounds(const Graph& graph, const std::vector<int>& order) {
  std::vector<int> depths(order.size());
  int longest = 0;
  for (const int event : order) {
    int& depth = depths[static_cast<std::size_t>(event)];
    for (std::size_t k = 0;; ++k) {
      const int before = graph.predecessor(event, k, Flow::eager);
      if (before == Graph::nobody) break;
      const bool arrives = graph.rank(Graph::step_of(before)) != graph.rank(Graph::step_of(event));
      depth = std::max(depth, depths[static_cast<std::size_t>(before)] + (arrives ? 1 : 0));
    }
    longest = std::max(longest, depth);
  }
  return longest;
}

Cost counted(const Part& part, int rounds) {
  Cost cost{.rounds = rounds, .scratch = part.schedule.scratch};
  for (const auto& [action, after] : part.schedule.steps) {
    if (const auto* send = std::get_if<Send>(&action)) ++cost.messages, cost.sent += total(send->from);
    if (const auto* reduce = std::get_if<Reduce>(&action)) cost.reduced += reduce->into.count;
    if (const auto* copy = std::get_if<Copy>(&action)) cost.copied += copy->into.count;
  }
  return cost;
}

std::string text(const Cost& cost) {
  return fmt::format("messages {}, rounds {}, sent {}, reduced {}, copied {}, scratch {}", cost.messages, cost.rounds,
                     cost.sent.value(), cost.reduced.value(), cost.copied.value(), cost.scratch.value());
}

/// What is wrong with the stated costs; empty if nothing is.
std::string cost_fault(const Algorithm& algorithm, Count count, const Parts& parts, const std::vector<Cost>& costs) {
  const int size = static_cast<int>(parts.size());
  for (int rank = 0; rank < size; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    const Cost stated = algorithm.cost({Rank{rank}, size, count, parts[place].aliasing});
    Cost found = costs[place];
    const bool bounds = count < Count{size} && found.rounds <= stated.rounds;
    if (bounds) found.rounds = stated.rounds;
    if (found != stated)
      return fmt::format("rank {}: the stated cost ({}) is not the counted one ({})", rank, text(stated), text(found));
  }
  return {};
}

}  // namespace

Verdict prove(const Parts& parts, const Expectation& expectation) try {
  require_form(parts);
  const Graph graph{parts};
  const std::vector<int> order = order_without_deadlock(graph);
  for (int rank = 0; const Part& part : parts)
    require_no_races(Rank{rank++}, part);
  Values values{parts};
  Memory memory{parts, values};
  run_in_order(order, graph, memory, values);
  require_results(parts, expectation, memory, values);
  Verdict verdict;
  const int longest = rounds(graph, order);
  std::ranges::transform(parts, std::back_inserter(verdict.costs),
                         [&](const Part& part) { return counted(part, longest); });
  return verdict;
} catch (const Fault& fault) {
  return {fault.text, {}};
}

Verdict prove(const Algorithm& algorithm, Count count, const Parts& parts) {
  Verdict verdict = prove(parts, expectation_of(algorithm, static_cast<int>(parts.size())));
  if (verdict.proved()) verdict.fault = cost_fault(algorithm, count, parts, verdict.costs);
  return verdict;
}

}  // namespace tutti::checker
