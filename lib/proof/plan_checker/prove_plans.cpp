#include "lib/proof/plan_checker/prove_plans.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "lib/proof/checker/fault.hpp"
#include "lib/proof/checker/prove.hpp"
#include "lib/proof/checker/races.hpp"
#include "lib/proof/plan_checker/shared_accesses.hpp"
#include "lib/proof/plan_checker/shared_run.hpp"

namespace tutti::checker {
namespace {

/// Requires that all steps that step i waits for have completed whenever step i + 1 may start.
void require_in_order(Rank rank, const Schedule& schedule) {
  LocalOrder order{schedule};
  for (int i = 0; i + 1 < static_cast<int>(schedule.steps.size()); ++i) {
    const auto& [action, after] = schedule.steps[static_cast<std::size_t>(i)];
    for (const int before : after)
      if (!order.ordered(before, i + 1))
        refute(rank, i, action, fmt::format("delays the next step, which need not wait for step {}", before));
  }
}

/// A send that forwards a result waits for the reduction that makes it.
void require_forwards(Rank rank, const shm::SharedPlan& plan, const Schedule& schedule) {
  LocalOrder order{schedule};
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    const int sent = plan.side(i).forward;
    if (sent >= 0 && (sent <= i || !order.ordered(i, sent)))
      refute(rank, i, schedule.steps[static_cast<std::size_t>(i)].action,
             fmt::format("is forwarded by step {}, which does not wait for it", sent));
  }
}

void require_same_ways(const Plans& plans) {
  using Key = std::tuple<int, int, int>;  // from, to, number
  using Travels = std::tuple<Transport, std::int64_t>;
  std::map<Key, Travels> sent;
  const auto each_message = [&](const auto& visit) {
    for (int rank = 0; rank < plans.size(); ++rank)
      for (const CompiledStep& step : plans.of(Rank{rank}).steps)
        if (step.is_message() && step.transport != Transport::device)
          visit(rank, step, Travels{step.is_local() ? Transport::shm : step.transport, step.bytes});
  };
  each_message([&](int rank, const CompiledStep& step, const Travels& travels) {
    if (step.verb == Verb::send) sent[{rank, step.peer, step.message}] = travels;
  });
  each_message([&](int rank, const CompiledStep& step, const Travels& travels) {
    if (step.verb != Verb::send && sent.at({step.peer, rank, step.message}) != travels)
      throw Fault{
          fmt::format("message {} from rank {} to {}: its ends do not go the same way", step.message, step.peer, rank)};
  });
}

PlanCounts counts_of(const shm::SharedPlan& plan) {
  PlanCounts counts{.plans = 1, .steps = static_cast<int>(plan.steps.size())};
  for (const CompiledStep& step : plan.steps) {
    const shm::SideStep& side = plan.side(step);
    const bool sends = step.verb == Verb::send && step.is_local();
    counts.staged += step.is_message() && step.transport == Transport::device ? 1 : 0;
    counts.joined += side.joint >= 0 ? 1 : 0;
    counts.forwarded += side.forward >= 0 ? 1 : 0;
    counts.shared += side.group >= 0 ? 1 : 0;
    counts.lent += sends && !side.makes_room && step.bytes > 0 ? 1 : 0;
    counts.answered += sends && side.answer >= 0 ? 1 : 0;
  }
  return counts;
}

}  // namespace

PlanCounts& PlanCounts::operator+=(const PlanCounts& other) {
  plans += other.plans;
  steps += other.steps;
  staged += other.staged;
  joined += other.joined;
  forwarded += other.forwarded;
  shared += other.shared;
  lent += other.lent;
  answered += other.answered;
  delivered += other.delivered;
  return *this;
}

PlanVerdict prove(const Plans& plans) try {
  const RankSchedules schedules = schedules_of(plans);
  const Algorithm& algorithm = *plans.of(Rank{0}).choice.algorithm;
  const Verdict verdict = prove(schedules, expectation_of(algorithm, plans.problems()));
  if (!verdict.proved()) throw Fault{verdict.fault};
  require_same_ways(plans);
  PlanCounts counts;
  for (Rank rank; rank.value() < plans.size(); rank = Rank{rank.value() + 1}) {
    const shm::SharedPlan& plan = plans.of(rank);
    const Schedule& schedule = schedules[static_cast<std::size_t>(rank.value())].schedule;
    if (plan.in_order) require_in_order(rank, schedule);
    if (plan.forwards) require_forwards(rank, plan, schedule);
    counts += counts_of(plan);
  }
  const Graph graph{schedules};
  require_no_shared_races(plans, schedules, graph);
  counts.delivered = require_same_when_shared(plans, schedules, graph);
  return {.fault = {}, .counts = counts};
} catch (const Fault& fault) {
  return {.fault = fault.text, .counts = {}};
}

}  // namespace tutti::checker
