#include "lib/watch/observers.hpp"

#include <utility>

namespace tutti::detail {

Observers::Observers(Workspace& workspace, const PreparedPlan& plan, const bool& is_waited_for)
    : recorder_(workspace.recorder()),
      packed_(records::pack(workspace.signed_here(plan.signature()))),
      hang_watch_(workspace) {
  call_ = records::unpack(packed_);  // as others read it
  const CompiledPlan& compiled = plan.compiled();
  if (workspace.settings().checks_arguments && compiled.takes_turns)
    others_.push_back(std::make_unique<CheckedCall>(workspace.argument_check(), plan.key()));
  if (CommunicatorBits* const bits = workspace.bits(); bits != nullptr && compiled.message_class == 0)
    others_.push_back(std::make_unique<BitsOfCall>(*bits, plan));
  CommunicatorTrace* const trace = workspace.trace();
  if (trace == nullptr || compiled.message_class > 0) return;
  if (trace->has_writer()) {
    auto traced = std::make_unique<TracedCall>(*trace, plan, is_waited_for);
    traced_ = &traced->subject();
    others_.push_back(std::move(traced));
  }
  if (trace->has_ranges()) others_.push_back(std::make_unique<RangeOfCall>(plan));
}

void Observers::entered(std::uint64_t sequence, records::Manner manner, bool for_stream, const Buffers& buffers) {
  if (!is_recorded()) enter_record(sequence, manner);
  const Entrance run{call_, sequence, for_stream, has_gaps_, buffers.in, buffers.out};
  hang_watch_.entered(run);
  for (const auto& other : others_)
    other->entered(run);
}

std::optional<records::Wait> Observers::delays() {
  for (const auto& other : others_)
    if (const auto wait = other->delays()) return wait;
  return std::nullopt;
}

void Observers::waits(Look look) {
  look.wait.progress = hang_watch_.note(look);
  recorder_.set_wait(number_, look.wait);
  hang_watch_.waits(look);
  for (const auto& other : others_)
    other->waits(look);
}

void Observers::left() {
  leave_record(records::State::over);
  for (const auto& other : others_)
    other->left();
}

void Observers::failed() {
  leave_record(records::State::failed);
  for (const auto& other : others_)
    other->failed();
}

}  // namespace tutti::detail
