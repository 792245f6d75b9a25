#include "lib/device/staging/direct.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "lib/core/plan/pair_order.hpp"
#include "lib/device/staging/growing_plan.hpp"
#include "lib/device/staging/stage.hpp"

namespace tutti::device {
namespace {

bool makes_result(const CompiledStep& step) { return step.verb == Verb::reduce || step.verb == Verb::recv_reduce; }

/// The reduction whose result a send waits for, and sends, and nothing else; -1: none.
int result_of(const shm::SharedPlan& plan, const Dependencies& after, int send) {
  const std::vector<int>& before = after[static_cast<std::size_t>(send)];
  if (before.size() != 1) return -1;
  const CompiledStep& sent = plan.steps[static_cast<std::size_t>(send)];
  const CompiledStep& made = plan.steps[static_cast<std::size_t>(before[0])];
  const bool is_it = makes_result(made) && made.bytes == sent.bytes &&
                     place_of(plan, made.into, made.into_at) == place_of(plan, sent.lhs, sent.lhs_at);
  return is_it ? before[0] : -1;
}

/// Offers a place with each send: that of the next message back that belongs to no joint reduction, has the same size,
/// and whose place is free from the start, or is that of the data sent. If it is the result of a reduction of these
/// data, the peer's kernel writes it there.
void offer_places(shm::SharedPlan& plan, const Messages& pairs, const Dependencies& after) {
  const auto step = [&](int i) -> const CompiledStep& { return plan.steps[static_cast<std::size_t>(i)]; };
  const auto is_free = [&](int send, int recv) {
    const std::vector<int>& before = after[static_cast<std::size_t>(recv)];
    return before.empty() ||
           (before.size() == 1 && before[0] == send &&
            place_of(plan, step(recv).into, step(recv).into_at) == place_of(plan, step(send).lhs, step(send).lhs_at));
  };
  const auto fits = [&](int send, int recv) {
    return step(recv).verb == Verb::recv && plan.side(recv).joint < 0 && step(recv).bytes == step(send).bytes &&
           step(recv).bytes > 0 && is_free(send, recv);
  };
  for (const auto& [pair, sends] : pairs) {
    const auto back = pairs.find({pair.first, true});
    if (pair.second || back == pairs.end() || step(sends[0]).transport != Transport::ipc) continue;
    auto next = back->second.begin();
    for (const int send : sends) {
      shm::SideStep& side = plan.side(send);
      side.answer = -1;
      if (side.result_of >= 0) continue;
      const auto found = std::find_if(next, back->second.end(), [&](int recv) { return fits(send, recv); });
      if (found == back->second.end()) continue;
      next = std::next(found);
      side.answer = step(*found).message;
      side.answer_into = step(*found).into;
      side.answer_at = step(*found).into_at;
    }
  }
}

}  // namespace

void go_by_ipc(shm::SharedPlan& plan) {
  const Dependencies after = dependencies_of(plan);
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    CompiledStep& step = plan.steps[static_cast<std::size_t>(i)];
    if (!step.is_message() || step.transport != Transport::shm) continue;
    step.transport = Transport::ipc;
    shm::SideStep& side = plan.side(step);
    side.group = -1;
    if (step.bytes > 0 && step.verb == Verb::send) side.result_of = result_of(plan, after, i);
  }
  plan.groups = 0;
  if (plan.takes_turns) offer_places(plan, by_pair(plan.steps), after);
  std::swap(plan.transports[static_cast<std::size_t>(Transport::ipc)],
            plan.transports[static_cast<std::size_t>(Transport::shm)]);
}

shm::SharedPlan on_copy_of_input(shm::SharedPlan plan, std::int64_t input_bytes) {
  const std::int64_t at = aligned(plan.scratch_bytes);
  const auto move = [&](Buffer& buffer, std::int64_t& offset) {
    if (buffer != Buffer::input) return;
    buffer = Buffer::scratch;
    offset += at;
  };
  for (CompiledStep& step : plan.steps) {
    move(step.lhs, step.lhs_at);
    move(step.rhs, step.rhs_at);
  }
  for (shm::JointReduction& joint : plan.joints)
    for (shm::JointReduction::Operand& operand : joint.operands)
      move(operand.buffer, operand.at);
  plan.scratch_bytes = at + input_bytes;
  plan.problem.aliasing = Aliasing::in_place();
  GrowingPlan grown{std::move(plan)};
  const int count = grown.size();
  const int copy = grown.add(
      {.verb = Verb::copy, .lhs = Buffer::output, .into = Buffer::scratch, .into_at = at, .bytes = input_bytes}, {});
  for (int i = 0; i < count; ++i)
    if (grown.after(i).empty()) grown.after(i).push_back(copy);
  return std::move(grown).finished();
}

}  // namespace tutti::device
