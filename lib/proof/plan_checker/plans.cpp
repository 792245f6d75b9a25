#include "lib/proof/plan_checker/plans.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/plan/pair_order.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/device/staging/tuning.hpp"
#include "lib/proof/checker/fault.hpp"
#include "lib/proof/plan_checker/path_rules.hpp"

namespace tutti::checker {
namespace {

constexpr Type type_of_elements = Type::int64;
/// So short that few elements are several chunks.
constexpr device::Tuning short_chunks{.chunk_bytes = 16, .bytes_an_operation = 8};

/// The region of a copy from a device or to it: in place both buffers are named by their distance from the output, and
/// may be the input's alone.
Region device_region_of(const CompiledPlan& plan, Buffer buffer, std::int64_t at, std::int64_t bytes) {
  const auto offset = plan.problem.aliasing.offset();
  const std::int64_t output = shape_of(plan.problem).output.value() * plan.element;
  if (buffer != Buffer::output || !offset || (at >= 0 && at + bytes <= output))
    return region_of(plan, buffer, at, bytes);
  return region_of(plan, Buffer::input, at - offset->value() * plan.element, bytes);
}

Action action_of(const CompiledPlan& plan, const CompiledStep& step) {
  const auto region = [&](Buffer buffer, std::int64_t at) { return region_of(plan, buffer, at, step.bytes); };
  const auto regions = [&](Buffer buffer, std::int64_t at) {
    return step.bytes == 0 ? Regions{} : Regions{region(buffer, at)};
  };
  const auto reduction = [&] {
    return Reduce{region(step.lhs, step.lhs_at), region(step.rhs, step.rhs_at), region(step.into, step.into_at)};
  };
  if (step.is_message() && step.transport == Transport::device)
    return Copy{device_region_of(plan, step.lhs, step.lhs_at, step.bytes),
                device_region_of(plan, step.into, step.into_at, step.bytes)};
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
    case Verb::combine:  // of exact sums alone
      throw Fault{"a step that combines many at once"};
    case Verb::copy:
      break;
  }
  return Copy{region(step.lhs, step.lhs_at), region(step.into, step.into_at)};
}

Schedule schedule_of(const CompiledPlan& plan) {
  Schedule schedule{.steps = {}, .scratch = Count{(plan.scratch_bytes + plan.staging.bytes) / plan.element}};
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

/// The plan without devices, which must keep the rules that shared memory relies on.
shm::SharedPlan compiled(const Choice& choice, const Problem& problem, const shm::SharedMemory& memory) {
  shm::SharedPlan plan = shm::compile(choice, problem, type_of_elements, Op::sum, {}, memory);
  const std::string broken = broken_path_rule(plan, memory);
  if (!broken.empty()) throw Fault{fmt::format("rank {}: {}", problem.rank.value(), broken)};
  return plan;
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
    const Problem& problem = problems_.of(own);
    if (what.devices.empty() || !what.devices[rank].places.has_device()) {
      plans_.push_back(compiled(what.choice, problem, memory_of(own)));
      continue;
    }
    for (const shm::SharedMemory& its : {memory_of(own), device::memory_for_devices(memory_of(own))})
      static_cast<void>(compiled(what.choice, problem, its));
    const auto& [places, staging, ways] = what.devices[rank];
    plans_.push_back(renumbered(device::compile(what.choice, problem, type_of_elements, Op::sum, {}, memory_of(own),
                                                places, {ways, staging, short_chunks})));
  }
}

shm::SharedPlan renumbered(const shm::SharedPlan& plan) {
  const Dependencies after = dependencies_of(plan);
  std::vector<int> order, number(plan.steps.size(), -1);
  const auto place = [&](int step, const auto& again) -> void {
    int& its = number[static_cast<std::size_t>(step)];
    if (its >= 0) return;
    for (const int before : after[static_cast<std::size_t>(step)])
      again(before, again);
    its = static_cast<int>(order.size());
    order.push_back(step);
  };
  for (int step = 0; step < static_cast<int>(plan.steps.size()); ++step)
    place(step, place);
  const auto new_number = [&](int step) { return step < 0 ? step : number[static_cast<std::size_t>(step)]; };
  shm::SharedPlan renumbered = plan;
  Dependencies new_after(after.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    CompiledStep& step = renumbered.steps[i] = plan.steps[static_cast<std::size_t>(order[i])];
    step.previous = new_number(step.previous);
    step.next = new_number(step.next);
    for (const int before : after[static_cast<std::size_t>(order[i])])
      new_after[i].push_back(new_number(before));
    std::ranges::sort(new_after[i]);
  }
  set_dependencies(renumbered, new_after);
  for (shm::SideStep& side : renumbered.sides) {
    side.forward = new_number(side.forward);
    side.result_of = new_number(side.result_of);
  }
  for (shm::JointReduction& joint : renumbered.joints)
    for (shm::JointReduction::Operand& operand : joint.operands)
      operand.message = new_number(operand.message);
  return renumbered;
}

shm::SharedMemory Plans::memory_of(Rank rank) const {
  shm::SharedMemory memory = memory_;
  memory.reaches = reaches_[static_cast<std::size_t>(rank.value())];
  return memory;
}

Region region_of(const CompiledPlan& plan, Buffer buffer, std::int64_t at, std::int64_t bytes) {
  if (at % plan.element != 0 || bytes % plan.element != 0)
    throw Fault{fmt::format("{} bytes from byte {} on are no whole elements", bytes, at)};
  if (buffer == staging_buffer) {
    buffer = Buffer::scratch;
    at += plan.scratch_bytes;
  }
  return {buffer, Count{at / plan.element}, Count{bytes / plan.element}};
}

RankSchedules schedules_of(const Plans& plans) {
  RankSchedules schedules;
  for (Rank rank; rank.value() < plans.size(); rank = Rank{rank.value() + 1}) {
    const Problem& problem = plans.problems().of(rank);
    const auto [input, output] = shape_of(problem);
    schedules.push_back({input, output, problem.aliasing, schedule_of(plans.of(rank))});
  }
  return schedules;
}

}  // namespace tutti::checker
