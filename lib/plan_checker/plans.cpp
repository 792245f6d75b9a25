#include "lib/plan_checker/plans.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/checker/fault.hpp"

namespace tutti::checker {
namespace {

constexpr Type type_of_elements = Type::int64;

Action action_of(const CompiledPlan& plan, const CompiledStep& step) {
  const auto region = [&](Buffer buffer, std::int64_t at) { return region_of(plan, buffer, at, step.bytes); };
  const auto regions = [&](Buffer buffer, std::int64_t at) {
    return step.bytes == 0 ? Regions{} : Regions{region(buffer, at)};
  };
  const auto reduction = [&] {
    return Reduce{region(step.lhs, step.lhs_at), region(step.rhs, step.rhs_at), region(step.into, step.into_at)};
  };
  switch (step.verb) {
    case Verb::send:
      return Send{Rank{step.peer}, regions(step.lhs, step.lhs_at), step.message};
    case Verb::recv:
      return Recv{Rank{step.peer}, regions(step.into, step.into_at), step.message, {}};
    case Verb::recv_reduce:
    case Verb::recv_then_reduce: {
      const Reduce then = reduction();
      return Recv{Rank{step.peer}, {step.lands_left ? then.lhs : then.rhs}, step.message, then};
    }
    case Verb::reduce:
      return reduction();
    case Verb::copy:
      break;
  }
  return Copy{region(step.lhs, step.lhs_at), region(step.into, step.into_at)};
}

Schedule schedule_of(const CompiledPlan& plan) {
  Schedule schedule{.steps = {}, .scratch = Count{plan.scratch_bytes / plan.element}};
  for (const CompiledStep& step : plan.steps)
    schedule.steps.push_back({action_of(plan, step), {}});
  const auto last_step = static_cast<int>(plan.steps.size());
  for (int i = 0; i < last_step; ++i)
    for (int d = plan.steps[static_cast<std::size_t>(i)].first_dependent;
         d < plan.steps[static_cast<std::size_t>(i)].last_dependent; ++d)
      schedule.steps[static_cast<std::size_t>(plan.dependents[static_cast<std::size_t>(d)])].after.push_back(i);
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    std::vector<int>& after = schedule.steps[i].after;
    if (static_cast<int>(after.size()) != plan.waits[i])
      throw Fault{fmt::format("step {} waits for {} steps, but {} count it down", i, plan.waits[i], after.size())};
    after.erase(std::unique(after.begin(), after.end()), after.end());  // a message may wait for another twice
  }
  return schedule;
}

}  // namespace

Plans::Plans(const PlanCase& what, const shm::SharedMemory& memory)
    : problems_(*what.choice.algorithm, what.what), memory_(memory) {
  const auto ranks = static_cast<std::size_t>(what.what.size);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    reaches_.emplace_back(ranks, 1);
    for (std::size_t other = 0; other < what.nodes.size(); ++other)
      reaches_[rank][other] = what.nodes[other] == what.nodes[rank] ? 1 : 0;
    const Rank own{static_cast<int>(rank)};
    plans_.push_back(shm::compile(what.choice, problems_.of(own), type_of_elements, Op::sum, {}, memory_of(own)));
  }
}

shm::SharedMemory Plans::memory_of(Rank rank) const {
  shm::SharedMemory memory = memory_;
  memory.reaches = reaches_[static_cast<std::size_t>(rank.value())];
  return memory;
}

Region region_of(const CompiledPlan& plan, Buffer buffer, std::int64_t at, std::int64_t bytes) {
  if (at % plan.element != 0 || bytes % plan.element != 0)
    throw Fault{fmt::format("{} bytes from byte {} on are no whole elements", bytes, at)};
  return {buffer, Count{at / plan.element}, Count{bytes / plan.element}};
}

Parts parts_of(const Plans& plans) {
  Parts parts;
  for (Rank rank; rank.value() < plans.size(); rank = Rank{rank.value() + 1}) {
    const Problem& problem = plans.problems().of(rank);
    const auto [input, output] = shape_of(problem);
    parts.push_back({input, output, problem.aliasing, schedule_of(plans.of(rank))});
  }
  return parts;
}

}  // namespace tutti::checker
