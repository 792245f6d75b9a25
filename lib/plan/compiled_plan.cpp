#include "lib/plan/compiled_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

#include "lib/exec/user_function.hpp"
#include "lib/plan/message_paths.hpp"
#include "lib/plan/step_order.hpp"
#include "lib/schedule/pack_messages.hpp"
#include "lib/schedule/passes.hpp"
#include "lib/transport/shm/plan/path_rules.hpp"
#include "tutti/error.hpp"

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
    step.verb = Verb::recv_reduce;
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

/// What message m of a pair and direction waits for, so that all before m - window are over when it starts, with few
/// dependencies: of a small window as many as it is large. Else of each block of half a window the first waits for all
/// of the block two before, and for the first of the one before; and the others for the first.
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

/// Lets no more than a window of messages of each pair and direction be under way, but in shared memory. Were each to
/// wait for the one a window before alone, there would be as many chains of messages, of which some get far ahead of
/// others: an MPI would look for each message among ever more that came before they were asked for.
void limit_messages(const std::vector<CompiledStep>& steps, const Messages& pairs, int window, Dependencies& after) {
  for (const auto& [pair, numbered] : pairs) {
    if (is_shared_memory(steps[static_cast<std::size_t>(numbered[0])].path)) continue;
    for (std::size_t m = 0; m < numbered.size(); ++m)
      follow_window(numbered, m, static_cast<std::size_t>(window), after[static_cast<std::size_t>(numbered[m])]);
  }
}

/// Whether all messages are short ones through shared memory: of one piece, which is sent once it has been written,
/// and so few of a pair that there is room for all of them before the first is read.
bool has_only_short_messages(const CompiledPlan& plan, const Messages& pairs, const SharedMemory& memory) {
  constexpr std::int64_t worth_it = 8192;  // with longer ones, what is noted of each takes next to no time
  const std::int64_t most_bytes = std::min(plan.piece_of(memory.piece_bytes), worth_it);
  return std::ranges::all_of(pairs, [&](const auto& pair) {
    const auto& [end, messages] = pair;
    return memory.reaches_rank(Rank{end.first}) && static_cast<int>(messages.size()) <= memory.ring_room &&
           std::ranges::all_of(messages, [&](int message) {
             return plan.steps[static_cast<std::size_t>(message)].bytes <= most_bytes;
           });
  });
}

void flatten(const Dependencies& after, CompiledPlan& plan) {
  const Dependencies dependents = dependents_of(after);
  for (std::size_t i = 0; i < after.size(); ++i) {
    plan.waits.push_back(static_cast<int>(after[i].size()));
    const Verb verb = plan.steps[i].verb;
    for (const int before : after[i]) {
      if (verb == Verb::reduce || verb == Verb::recv_reduce)
        plan.steps[static_cast<std::size_t>(before)].makes_room = true;
    }
  }
  for (std::size_t i = 0; i < after.size(); ++i) {
    plan.steps[i].first_dependent = static_cast<int>(plan.dependents.size());
    plan.dependents.insert(plan.dependents.end(), dependents[i].begin(), dependents[i].end());
    plan.steps[i].last_dependent = static_cast<int>(plan.dependents.size());
  }
}

}  // namespace

std::string CompiledPlan::name() const {
  if (choice.algorithm == nullptr) return "point-to-point";
  return std::string{to_string(problem.collective)} + " (" + to_text(choice) + ")";
}

void CompiledPlan::combine_by_user(const void* lhs, const void* rhs, void* into, Count count) const {
  const UserFunctionRun running;
  op.function()(lhs, rhs, into, count, op.context());
  UserFunctionRun::require_kept_out();
}

void CompiledPlan::combine(const void* lhs, const void* rhs, void* into, void* also, std::int64_t bytes) const {
  const auto elements = static_cast<std::size_t>(bytes >> element_shift);
  if (reduce_many != nullptr) {
    const void* const operands[] = {lhs, rhs};
    return reduce_many(operands, 2, into, also, elements);
  }
  combine(lhs, rhs, into, bytes);
  std::memcpy(also, into, static_cast<std::size_t>(bytes));
}

CompiledPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op, MessageWindow window,
                     const SharedMemory& memory) {
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
  plan.reduce = op.kind() == Op::Kind::user ? nullptr : reduce_kernel(op.kind(), type);
  plan.reduce_many = op.kind() == Op::Kind::user ? nullptr : reduce_many_kernel(op.kind(), type);
  plan.scratch_bytes = plan.element * packed.scratch.value();
  Dependencies after;
  for (const Step& step : packed.steps) {
    plan.steps.push_back(std::visit(Compile{plan.element, plan}, step.action));
    after.push_back(step.after);
  }
  plan.takes_turns = window.takes_turns;
  const bool is_short = has_only_short_messages(plan, by_pair(plan.steps), memory);
  (is_short ? put_sends_first : put_receives_before_copies)(plan.steps, after);
  const Messages pairs = by_pair(plan.steps);
  choose_paths(plan, pairs, window.far, memory);
  find_send_groups(plan, memory);
  if (plan.takes_turns) {  // else messages have no numbers
    find_answers(plan, pairs, after);
    find_joint_reductions(plan, after, memory);
  }
  plan.is_brief = is_short && plan.groups == 0 && plan.joints.empty() && op.kind() != Op::Kind::user;
  limit_messages(plan.steps, pairs, window.messages, after);
  plan.in_order = starts_in_order(after);
  flatten(after, plan);
  if (const std::string broken = broken_path_rule(plan, memory); !broken.empty())
    throw Error("a plan that shared memory cannot carry safely: " + broken);
  return plan;
}

CompiledPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op, MessageWindow window,
                     const SharedMemory& memory) {
  const std::int64_t elements = choice.segment / size_of(type).value();
  const Count segment{choice.segment > 0 ? std::max<std::int64_t>(1, elements) : 0};
  Schedule schedule = built(*choice.algorithm, problem, segment);
  CompiledPlan plan = compile(fused(std::move(schedule)), problem, type, op, window, memory);
  plan.choice = choice;
  return plan;
}

}  // namespace tutti
