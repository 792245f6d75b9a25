#include "lib/core/transport/shm/turns.hpp"

#include <algorithm>

namespace tutti::shm {
namespace {

/// Whether the plan has one receive from each of the others.
bool hears_once_from(int others, const std::vector<CompiledStep>& steps) {
  const auto is_first = [](const CompiledStep& step) { return step.receives() && step.previous < 0; };
  return std::ranges::count_if(steps, &CompiledStep::receives) == others &&
         std::ranges::count_if(steps, is_first) == others;
}

}  // namespace

Turns::Turns(const PortContext& context) : context_(&context) {
  const Route& route = context.route;
  if (route.links == nullptr || route.processors == nullptr) return;
  const std::vector<CompiledStep>& steps = context.plan->steps;
  hears_once_from_all_ = hears_once_from(route.links->ranks() - 1, steps);
  if (std::ranges::count_if(steps, &CompiledStep::receives) == 1) looks_elsewhere_ = route.looks_elsewhere;
  if (looks_elsewhere_ > 0 && steps.size() == 1)
    looks_elsewhere_ += static_cast<int>(steps.front().bytes / tuning.bytes_a_look);
}

int Turns::looks_before_turn() const {
  if (hears_once_from_all_)
    return awaited_->verb != Verb::send && waits_for_other_processors() ? tuning.looks_a_turn : 0;
  if (looks_elsewhere_ == 0) return 0;
  context_->route.processors->update();
  return is_here(*awaited_) ? 0 : looks_elsewhere_;
}

bool Turns::is_here(const CompiledStep& step) const {
  return context_->route.processors->is_here(context_->local_of(step));
}

/// In a run that receives one message from each rank of the node: whether those of the ranks on this rank's processor
/// are there, so that these are likely to wait as well, and to give them the processor is of no use.
bool Turns::waits_for_other_processors() const {
  context_->route.processors->update();
  const auto is_missing = [this](const CompiledStep& step) {
    return step.receives() && is_here(step) && !context_->ring_of(step).incoming().is_there();
  };
  return std::none_of(awaited_, context_->plan->steps.data() + context_->plan->steps.size(), is_missing);
}

}  // namespace tutti::shm
