#include "lib/core/transport/shm/message_order.hpp"

#include <algorithm>

namespace tutti::shm {
namespace {

bool is_local_message(const CompiledStep& step) { return step.is_message() && step.is_local(); }

}  // namespace

MessageOrder::MessageOrder(PortContext& context) : context_(&context) {
  if (context.route.links == nullptr) return;
  const SharedPlan& plan = *context.plan;
  completed_.resize(plan.steps.size());
  if (!plan.takes_turns)
    numbers_.resize(plan.steps.size());
  else if (std::ranges::any_of(plan.steps, [](auto& step) { return is_local_message(step) && step.previous >= 0; }))
    parked_.resize(plan.steps.size());
}

void MessageOrder::begin() {
  ++run_;
  const std::vector<CompiledStep>& steps = context_->plan->steps;
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    if (is_local_message(steps[i])) numbers_[i] = queue_of(steps[i]).numbered++;
}

Links::Queue& MessageOrder::queue_of(const CompiledStep& step) const {
  Links::Queues& queues = context_->route.links->queues(context_->local_of(step), context_->plan->message_class);
  return step.verb == Verb::send ? queues.sends : queues.recvs;
}

void MessageOrder::abandon() noexcept { std::ranges::fill(parked_, Transfer{}); }

}  // namespace tutti::shm
