#include "lib/core/plan/pair_order.hpp"

#include <algorithm>

namespace tutti {
namespace {

/// Adds the messages that message m of a pair and direction waits for, so that all up to m - window are over when it
/// starts, with few dependencies. With a small window there are as many as the window is large. Else the first message
/// of each block of half a window waits for all messages of the block two before, and for the first of the block
/// before; the others wait for the first of their block. If each waited for the message a window before alone, there
/// would be as many chains of messages, of which some get far ahead of others: an MPI would look for each message among
/// ever more that came before they were asked for.
void follow_window(const std::vector<int>& numbered, std::size_t m, std::size_t window, std::vector<int>& after) {
  constexpr std::size_t small = 8;
  const auto add = [&](std::size_t first, std::size_t last) {
    for (std::size_t before = first; before < last; ++before)
      after.push_back(numbered[before]);
  };
  const std::size_t block = window / 2;
  if (window <= small) {
    if (m >= window) add(m + 1 - std::min(m + 1, 2 * window), m + 1 - window);
  } else if (m >= 2 * block && m % block == 0) {
    add(m - 2 * block, m - block + 1);
  } else if (m >= 2 * block) {
    add(m - m % block, m - m % block + 1);
  }
}

}  // namespace

Dependencies dependents_of(const Dependencies& after) {
  Dependencies dependents(after.size());
  for (std::size_t i = 0; i < after.size(); ++i)
    for (const int before : after[i])
      dependents[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
  return dependents;
}

Dependencies dependencies_of(const CompiledPlan& plan) {
  Dependencies after(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (int d = plan.steps[i].first_dependent; d < plan.steps[i].last_dependent; ++d)
      after[static_cast<std::size_t>(plan.dependents[static_cast<std::size_t>(d)])].push_back(static_cast<int>(i));
  return after;
}

void set_dependencies(CompiledPlan& plan, const Dependencies& after) {
  const Dependencies dependents = dependents_of(after);
  plan.waits.clear();
  plan.dependents.clear();
  for (const std::vector<int>& before : after)
    plan.waits.push_back(static_cast<int>(before.size()));
  for (std::size_t i = 0; i < after.size(); ++i) {
    plan.steps[i].first_dependent = static_cast<int>(plan.dependents.size());
    plan.dependents.insert(plan.dependents.end(), dependents[i].begin(), dependents[i].end());
    plan.steps[i].last_dependent = static_cast<int>(plan.dependents.size());
  }
}

Messages by_pair(const std::vector<CompiledStep>& steps) {
  Messages pairs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const CompiledStep& step = steps[i];
    if (!step.is_message()) continue;
    pairs[{step.peer, step.verb != Verb::send}].push_back(static_cast<int>(i));  // numbers ascend with steps
  }
  return pairs;
}

void assign_transports(CompiledPlan& plan, const Messages& pairs, const Routing& routing) {
  for (const auto& [pair, numbered] : pairs) {
    const Transport transport = routing.to(Rank{pair.first});
    plan.transports[static_cast<std::size_t>(transport)] = true;
    for (std::size_t m = 0; m < numbered.size(); ++m) {
      CompiledStep& step = plan.steps[static_cast<std::size_t>(numbered[m])];
      step.transport = transport;
      if (step.verb == Verb::recv_then_reduce && transport == Transport::shm) step.verb = Verb::recv_reduce;
      if (m > 0) step.previous = numbered[m - 1];
      if (m + 1 < numbered.size()) step.next = numbered[m + 1];
    }
  }
}

void limit_messages(const CompiledPlan& plan, const Messages& pairs, int window, Dependencies& after) {
  for (const auto& [pair, numbered] : pairs) {
    if (plan.steps[static_cast<std::size_t>(numbered[0])].transport == Transport::shm) continue;
    for (std::size_t m = 0; m < numbered.size(); ++m)
      follow_window(numbered, m, static_cast<std::size_t>(window), after[static_cast<std::size_t>(numbered[m])]);
  }
}

}  // namespace tutti
