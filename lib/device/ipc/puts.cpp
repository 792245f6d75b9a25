#include "lib/device/ipc/puts.hpp"

#include "lib/device/driver/kernel_arguments.hpp"

namespace tutti::ipc {

Puts::Puts(Core& core, Departures& departures) : core_(&core), departures_(&departures) {
  const shm::SharedPlan& plan = *core.plan;
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i)
    if (const int made_by = plan.side(i).result_of; made_by >= 0) sends_[made_by].push_back(i);
}

void Puts::add(int reduction, int operand, const shm::DeviceLoan& loan, std::vector<CUdeviceptr>& outputs,
               ExportedAddress& answer) {
  const auto sends = sends_.find(reduction);
  if (sends == sends_.end() || loan.answer_place < 0 || outputs.size() == cuda::most_outputs) return;
  for (const int send : sends->second) {
    const CompiledStep& step = core_->step(send);
    if (step.peer != core_->step(operand).peer || step.message != loan.answer_message) continue;
    const ExportedAddress there{loan.answer_place, loan.answer_generation, loan.answer_offset};
    const Imports::Found found =
        core_->exchange.imports().find(core_->peer_of(operand), there, core_->step(operand).device);
    if (found.state != Imports::State::mapped) return;
    core_->exchange.imports().hold(core_->peer_of(operand), there, core_->step(operand).device);
    answer = there;
    outputs.push_back(found.address);
    departures_->delivered(send);
    ++core_->route.counters->put;
    core_->route.counters->put_bytes += static_cast<std::uint64_t>(step.bytes);
    return;
  }
}

}  // namespace tutti::ipc
