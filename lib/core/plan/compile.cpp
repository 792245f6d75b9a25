#include "lib/core/plan/compile.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "lib/core/schedule/pack_messages.hpp"
#include "lib/core/schedule/passes.hpp"

namespace tutti {
namespace {

struct Compile {
  std::int64_t element;
  CompiledPlan& plan;

  [[nodiscard]] std::int64_t at(const Region& region) const { return element * region.offset.value(); }
  [[nodiscard]] std::int64_t length(const Region& region) const { return element * region.count.value(); }

  CompiledStep operator()(const Send& send) const {
    ++plan.sends;
    CompiledStep step{.verb = Verb::send, .peer = send.to.value(), .message = send.message};
    if (send.from.empty()) return step;
    step.lhs = send.from[0].buffer;
    step.lhs_at = at(send.from[0]);
    step.bytes = length(send.from[0]);
    return step;
  }
  CompiledStep operator()(const Recv& recv) const {
    ++plan.recvs;
    if (recv.then) return joined(recv);
    CompiledStep step{.verb = Verb::recv, .peer = recv.from.value(), .message = recv.message};
    if (recv.into.empty()) return step;
    step.into = recv.into[0].buffer;
    step.into_at = at(recv.into[0]);
    step.bytes = length(recv.into[0]);
    return step;
  }
  [[nodiscard]] CompiledStep joined(const Recv& recv) const {
    CompiledStep step = (*this)(*recv.then);
    step.verb = Verb::recv_then_reduce;
    step.lands_left = recv.then->lhs == recv.into[0];
    step.peer = recv.from.value();
    step.message = recv.message;
    return step;
  }
  CompiledStep operator()(const Reduce& reduce) const {
    return {.verb = Verb::reduce,
            .lhs = reduce.lhs.buffer,
            .rhs = reduce.rhs.buffer,
            .into = reduce.into.buffer,
            .lhs_at = at(reduce.lhs),
            .rhs_at = at(reduce.rhs),
            .into_at = at(reduce.into),
            .bytes = length(reduce.into)};
  }
  CompiledStep operator()(const Copy& copy) const {
    return {.verb = Verb::copy,
            .lhs = copy.from.buffer,
            .into = copy.into.buffer,
            .lhs_at = at(copy.from),
            .into_at = at(copy.into),
            .bytes = length(copy.into)};
  }
};

/// Whether every send is over as soon as it is made: there is room for all messages before the first is received.
bool is_eager(const CompiledPlan& plan, const Messages& pairs, const Routing& routing) {
  const std::int64_t most_bytes = plan.piece_of(routing.eager_bytes);
  return std::ranges::all_of(pairs, [&](const auto& pair) {
    const auto& [end, messages] = pair;
    return routing.to(Rank{end.first}) == Transport::shm &&
           static_cast<int>(messages.size()) <= routing.eager_messages &&
           std::ranges::all_of(messages, [&](int message) {
             return plan.steps[static_cast<std::size_t>(message)].bytes <= most_bytes;
           });
  });
}

}  // namespace

bool combines_at_once(const Op& op, const Problem& problem) {
  return (op.kind() == Op::Kind::exact_sum || op.accumulate()) && problem.size > 2;
}

CompiledPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op,
                     const Routing& routing) {
  const Schedule packed = pack_messages(schedule);
  CompiledPlan plan;
  plan.problem = problem;
  plan.problem.in = plan.problem.out = {};
  plan.problem.learned = {};
  plan.type = type;
  plan.op = op;
  plan.ranks = problem.size;
  const bool untouched = problem.collective == Collective::exscan && problem.rank == Rank{0};
  plan.count = untouched ? 0 : shape_of(problem).output.value();
  plan.element = size_of(type).value();
  plan.element_shift = std::countr_zero(static_cast<std::uint64_t>(plan.element));
  plan.reduce = op.kind() == Op::Kind::user ? nullptr : reduce_kernel(op, type);
  plan.reduce_many = op.kind() == Op::Kind::user ? nullptr : reduce_many_kernel(op, type);
  plan.scratch_bytes = plan.element * packed.scratch.value();
  Dependencies after;
  for (const Step& step : packed.steps) {
    plan.steps.push_back(std::visit(Compile{plan.element, plan}, step.action));
    after.push_back(step.after);
  }
  if (combines_at_once(op, problem)) combine_at_once(plan, after);
  plan.takes_turns = routing.takes_turns;
  plan.message_class = routing.message_class;
  plan.is_eager = is_eager(plan, by_pair(plan.steps), routing);
  (plan.is_eager ? put_sends_first : put_receives_before_copies)(plan.steps, after);
  const Messages pairs = by_pair(plan.steps);
  assign_transports(plan, pairs, routing);
  limit_messages(plan, pairs, routing.window, after);
  plan.in_order = starts_in_order(after);
  set_dependencies(plan, after);
  return plan;
}

Count segment_of(const Choice& choice, Type type) {
  if (choice.segment == 0) return Count{0};
  return Count{std::max<std::int64_t>(1, choice.segment / size_of(type).value())};
}

CompiledPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op, const Routing& routing) {
  Schedule schedule = built(*choice.algorithm, problem, segment_of(choice, type));
  if (!combines_at_once(op, problem)) schedule = fused(std::move(schedule));
  CompiledPlan plan = compile(schedule, problem, type, op, routing);
  plan.choice = choice;
  return plan;
}

}  // namespace tutti
