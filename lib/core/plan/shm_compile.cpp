#include "lib/core/plan/shm_compile.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/plan/compile.hpp"

namespace tutti::shm {
namespace {

Routing with(Routing routing, const SharedMemory& memory) {
  routing.shared = memory.reaches;
  routing.eager_messages = memory.eager_messages;
  routing.eager_bytes = std::min(memory.piece_bytes, memory.fast_path_bytes);
  return routing;
}

bool reduces(const CompiledStep& step) {
  return step.verb == Verb::reduce || step.verb == Verb::recv_reduce || step.verb == Verb::recv_then_reduce;
}

/// Whether the step needs room for its result, which data may be in that have yet to be read.
bool makes_result(const CompiledStep& step) { return reduces(step) || step.verb == Verb::combine; }

/// Gives every message through shared memory its place in the side table.
void add_sides(SharedPlan& plan, const Dependencies& after) {
  for (CompiledStep& step : plan.steps)
    if (step.is_message() && step.transport == Transport::shm) static_cast<void>(plan.side(step));
  for (std::size_t i = 0; i < after.size(); ++i)
    for (const int before : after[i])
      if (CompiledStep& sent = plan.steps[static_cast<std::size_t>(before)];
          makes_result(plan.steps[i]) && sent.side >= 0)
        plan.side(sent).makes_room = true;
}

/// Whether step `later` waits for `earlier` by way of reductions alone.
bool follows(const SharedPlan& plan, const Dependencies& after, int later, int earlier) {
  const std::vector<int>& before = after[static_cast<std::size_t>(later)];
  return std::ranges::any_of(before, [&](int i) {
    return i == earlier ||
           (i > earlier && reduces(plan.steps[static_cast<std::size_t>(i)]) && follows(plan, after, i, earlier));
  });
}

/// Whether a reduction reads any of the result of another, which no step between them has written over.
bool reads_result(const SharedPlan& plan, std::size_t later_step, std::size_t earlier_step) {
  const CompiledStep &later = plan.steps[later_step], &earlier = plan.steps[earlier_step];
  const Place place = place_of(plan, earlier.into, earlier.into_at);
  for (std::size_t i = earlier_step + 1; i < later_step; ++i)
    if (const CompiledStep& between = plan.steps[i];
        reduces(between) && between.bytes >= earlier.bytes && place_of(plan, between.into, between.into_at) == place)
      return false;
  const auto overlaps = [&](Buffer buffer, std::int64_t at) {
    const Place read = place_of(plan, buffer, at);
    return read.first == place.first && read.second < place.second + earlier.bytes &&
           place.second < read.second + later.bytes;
  };
  return overlaps(later.lhs, later.lhs_at) || overlaps(later.rhs, later.rhs_at);
}

/// Lets a reduction wait no more for another one that is over anyway once those between them are, if it does not read
/// its result: so in place, where the last one of a chain writes an operand of the first.
void drop_implied(const SharedPlan& plan, Dependencies& after) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!reduces(plan.steps[i]) || after[i].size() < 2) continue;
    const std::vector<int> before = after[i];
    std::erase_if(after[i], [&](int earlier) {
      const CompiledStep& made = plan.steps[static_cast<std::size_t>(earlier)];
      return reduces(made) && !reads_result(plan, i, static_cast<std::size_t>(earlier)) &&
             std::ranges::any_of(before, [&](int other) {
               return other > earlier && reduces(plan.steps[static_cast<std::size_t>(other)]) &&
                      follows(plan, after, other, earlier);
             });
    });
  }
}

SharedPlan shared(CompiledPlan compiled, const SharedMemory& memory) {
  SharedPlan plan{std::move(compiled)};
  if (!plan.uses(Transport::shm)) {
    plan.takes_fast_path = plan.is_eager && plan.op.kind() != Op::Kind::user;
    return plan;
  }
  Dependencies after = dependencies_of(plan);
  if (memory.is_for_device) {
    drop_implied(plan, after);
    set_dependencies(plan, after);
  }
  const Messages pairs = by_pair(plan.steps);
  add_sides(plan, after);
  find_send_groups(plan, memory);
  if (plan.takes_turns) {  // else messages have no numbers
    find_answers(plan, pairs, after);
    find_joint_reductions(plan, after, memory);
  }
  plan.takes_fast_path = plan.is_eager && plan.groups == 0 && plan.joints.empty() && plan.op.kind() != Op::Kind::user;
  return plan;
}

}  // namespace

SharedPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op, Routing routing,
                   const SharedMemory& memory) {
  return shared(tutti::compile(choice, problem, type, op, with(routing, memory)), memory);
}

SharedPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op, Routing routing,
                   const SharedMemory& memory) {
  return shared(tutti::compile(schedule, problem, type, op, with(routing, memory)), memory);
}

}  // namespace tutti::shm
