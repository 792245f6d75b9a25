#include "lib/device/staging/stage.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/plan/compile.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/device/driver/kernel_arguments.hpp"
#include "lib/device/staging/growing_plan.hpp"
#include "lib/device/staging/tuning.hpp"

namespace tutti::device {
namespace {

using shm::SharedPlan;

/// The cost of a way in bytes: those that are moved, and as many more as operations and reductions of the host take.
std::int64_t cost_of(const SharedPlan& staged, const Tuning& tuning) {
  std::int64_t operations = 0, reduced = 0;
  const bool on_host = staged.staging.worker == Staging::Worker::host;
  for (const CompiledStep& step : staged.steps) {
    const bool combines = step.verb == Verb::reduce || step.verb == Verb::combine || step.verb == Verb::recv_reduce ||
                          step.verb == Verb::recv_then_reduce;
    if (step.bytes == 0) continue;
    if (step.transport == Transport::device && step.is_message()) ++operations;
    if (on_host && combines) reduced += step.bytes;
    if (!on_host && !step.is_message()) ++operations;
  }
  return staged.staging.moved + operations * tuning.bytes_an_operation + reduced / tuning.host_reduces;
}

/// A copy of the input may then cost less than waiting for all peers to have read it.
bool is_short_in_place(const Problem& problem, std::int64_t bytes, const Tuning& tuning) {
  return problem.collective == Collective::allreduce && problem.aliasing == Aliasing::in_place() && problem.size > 2 &&
         bytes > 0 && bytes <= tuning.copied_in_place;
}

}  // namespace

shm::SharedMemory memory_for_devices(shm::SharedMemory memory) {
  memory.joined_bytes = 0;
  memory.is_for_device = true;
  return memory;
}

SharedPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op, const Routing& routing,
                   const shm::SharedMemory& memory, const BufferDevices& places, const Transfers& transfers) {
  const Tuning& tuning = transfers.tuning;
  const auto compiled_with = [&](const shm::SharedMemory& its_memory, const Problem& what) {
    return shm::compile(choice, what, type, op, routing, its_memory);
  };
  const shm::SharedMemory on_devices = memory_for_devices(memory);
  if (transfers.ways != Ways{} && !combines_at_once(op, problem)) {
    SharedPlan plan = compiled_with(on_devices, problem);
    if (use_ways(plan, transfers.ways) && fits_device(plan, places)) {
      if (const std::int64_t bytes = problem.count.value() * plan.element; is_short_in_place(problem, bytes, tuning)) {
        Problem apart = problem;
        apart.aliasing = Aliasing::separate();
        SharedPlan on_copy = compiled_with(on_devices, apart);
        if (plan.joints.size() < on_copy.joints.size()) plan = on_copy_of_input(std::move(on_copy), bytes);
      }
      return direct(std::move(plan), places, transfers.ways);
    }
  }
  return staged(compiled_with(memory, problem), places, transfers.staging, tuning);
}

bool fits_device(const SharedPlan& plan, const BufferDevices& places) {
  if (plan.op.kind() == Op::Kind::user && plan.op.kernel().handle == nullptr) return false;
  if (places.input >= 0 && places.output >= 0 && places.input != places.output) return false;
  if (std::ranges::any_of(plan.operands, [](const auto& each) { return each.size() > cuda::most_inputs; }))
    return false;
  const auto is_hosts = [&](const Access& access) {
    const Buffer buffer = place_of(plan, access.buffer, 0).first;
    return (buffer == Buffer::input && places.input < 0) || (buffer == Buffer::output && places.output < 0);
  };
  return std::ranges::none_of(
      plan.steps, [&](const CompiledStep& step) { return std::ranges::any_of(accesses_of(plan, step), is_hosts); });
}

bool use_ways(const SharedPlan& plan, const Ways& ways) {
  return std::ranges::any_of(plan.steps,
                             [&](const CompiledStep& step) { return step.is_message() && ways.carry(step.transport); });
}

SharedPlan direct(SharedPlan plan, const BufferDevices& places, const Ways& ways) {
  const int device = std::max(places.input, places.output);
  plan = staged_for_device(
      std::move(plan), [device](Buffer, std::int64_t) { return device; }, ways);
  plan.staging.device = device;
  plan.staging.is_direct = true;
  plan.staging.moved_by_other = -1;
  return plan;
}

SharedPlan staged(const SharedPlan& plan, const BufferDevices& places, StagingUse use, const Tuning& tuning) {
  SharedPlan on_host = staged_for_host(plan, places, tuning);
  on_host.staging.moved_by_other = -1;
  if (!fits_device(plan, places)) return on_host;
  const int device = std::max(places.input, places.output);
  SharedPlan on_device = staged_for_device(plan, [device](Buffer, std::int64_t) { return device; });
  on_device.staging.device = device;
  const bool takes_host = use == StagingUse::host ||
                          (use == StagingUse::automatic && cost_of(on_host, tuning) <= cost_of(on_device, tuning));
  SharedPlan& chosen = takes_host ? on_host : on_device;
  chosen.staging.moved_by_other = (takes_host ? on_device : on_host).staging.moved;
  return std::move(chosen);
}

}  // namespace tutti::device
