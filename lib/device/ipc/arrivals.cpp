#include "lib/device/ipc/arrivals.hpp"

#include <bit>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/ipc/tuning.hpp"

namespace tutti::ipc {
namespace {

using cuda::address;

}  // namespace

Arrivals::Arrivals(Core& core, Departures& departures)
    : core_(&core), puts_(core, departures), arrivals_(core.plan->steps.size()), joints_(core.plan->joints.size()) {
  pending_.reserve(arrivals_.size());
  inputs_.reserve(cuda::most_inputs);
  outputs_.reserve(cuda::most_outputs);
  for (int i = 0; i < static_cast<int>(arrivals_.size()); ++i)
    if (joint_of(i) >= 0 && core.step(i).verb != Verb::recv) joints_[static_cast<std::size_t>(joint_of(i))].result = i;
}

void Arrivals::begin() {
  for (Arrival& each : arrivals_)
    each = Arrival{};
  for (Joint& each : joints_)
    each = Joint{.result = each.result};
}

std::int64_t Arrivals::reduced(const CompiledStep& step) const {
  const int joint = core_->plan->side(step).joint;
  return joint >= 0 && joints_[static_cast<std::size_t>(joint)].state == Joint::State::over ? step.bytes : 0;
}

Posted Arrivals::post(int index, const Operands& operands) {
  Arrival& arrival = at(index);
  arrival.operands = operands;
  arrival.is_posted = true;
  if (move(index)) return Posted::complete;
  pending_.push_back(index);
  return Posted::pending;
}

void Arrivals::poll(std::vector<int>& completed) {
  Core::move_all(pending_, completed, [this](int index) { return move(index); });
}

/// True: the message is over.
bool Arrivals::move(int index) {
  if (at(index).state == State::over) return true;
  if (at(index).state == State::at_work) return false;
  if (const int joint = joint_of(index); joint >= 0 && reduce_jointly(joint)) return false;
  if (bring(index)) work_alone(index);
  return at(index).state == State::over;
}

bool Arrivals::bring(int index) {
  Arrival& arrival = at(index);
  if (arrival.state != State::idle) return arrival.state == State::here;
  if (!core_->is_next(index)) return false;
  const shm::Incoming incoming = core_->ring_of(index).incoming();
  if (!incoming.is_there()) return false;
  const shm::Envelope came = incoming.envelope();
  shm::require_expected(core_->step(index), came, core_->envelope_of(index));
  switch (came.where) {
    case shm::Where::on_device:
      bring_from_peer(index, incoming, came);
      break;
    case shm::Where::failed:
      shm::throw_failed(core_->step(index));
    case shm::Where::delivered:
      core_->channel_of(index).release(core_->host.context().lane, came);
      core_->transferred(index);
      arrival.state = State::over;
      break;
    default:
      bring_by_host(index);
  }
  return arrival.state == State::here;
}

void Arrivals::bring_from_peer(int index, const shm::Incoming& incoming, const shm::Envelope& came) {
  Arrival& arrival = at(index);
  const int device = core_->step(index).device;
  arrival.loan = incoming.loan<shm::DeviceLoan>();
  const ExportedAddress source{arrival.loan.place, arrival.loan.generation, arrival.loan.offset};
  const Imports::Found found =
      device < 0 ? Imports::Found{} : core_->exchange.imports().find(core_->peer_of(index), source, device);
  if (found.state == Imports::State::coming) return;
  if (found.state == Imports::State::refused) {
    core_->ring_of(index).refuse();
    core_->channel_of(index).release(core_->host.context().lane, came);
    ++core_->route.counters->refused;
    return;
  }
  core_->exchange.imports().hold(core_->peer_of(index), source, device);
  arrival.source = source;
  arrival.envelope = came;
  arrival.is_lent = true;
  arrival.data = std::bit_cast<const std::byte*>(found.address);
  arrival.state = State::here;
}

/// Receives a message where it belongs, or in pinned memory that the device reads.
void Arrivals::bring_by_host(int index) {
  Arrival& arrival = at(index);
  const bool is_direct = core_->step(index).device < 0;
  if (is_direct && !arrival.is_posted) return;
  if (!is_direct) arrival.block = core_->take_block(index);
  if (!is_direct && arrival.block.data == nullptr) return;
  arrival.state = State::by_host;
  std::byte* const into = is_direct ? arrival.operands.into : arrival.block.data;
  if (core_->host.post_recv(index, core_->step(index), into) == Posted::complete) received_by_host(index);
}

void Arrivals::received_by_host(int index) {
  Arrival& arrival = at(index);
  arrival.data = arrival.block.on_device;
  arrival.state = core_->step(index).device < 0 ? State::over : State::here;
}

void Arrivals::work_alone(int index) {
  Arrival& arrival = at(index);
  const CompiledStep& step = core_->step(index);
  arrival.state = State::at_work;
  cuda::Device& device = core_->device_of(index);
  auto* const stream = device.next_stream();
  if (step.verb != Verb::recv_reduce) {
    core_->copy(index, arrival.data, arrival.operands.into, stream);
    return;
  }
  const CUdeviceptr came = address(arrival.data);
  const CUdeviceptr lhs = step.lands_left ? came : address(arrival.operands.lhs);
  const CUdeviceptr rhs = step.lands_left ? address(arrival.operands.rhs) : came;
  const Count count{step.bytes >> core_->plan->element_shift};
  outputs_ = {address(arrival.operands.into)};
  const Op& op = core_->plan->op;
  if (op.kind() != Op::Kind::user && arrival.is_lent) puts_.add(index, index, arrival.loan, outputs_, arrival.answer);
  core_->work.post(index, device, stream, [&] {
    if (op.kind() == Op::Kind::user) return device.kernels().combine(op.kernel(), lhs, rhs, outputs_[0], count, stream);
    device.kernels().reduce(op, core_->plan->type, std::array{lhs, rhs}, outputs_, count, stream);
  });
  core_->route.counters->reduced += arrival.is_lent ? 1 : 0;
}

/// False: the messages of the reduction are taken one by one.
bool Arrivals::reduce_jointly(int number) {
  Joint& joint = joints_[static_cast<std::size_t>(number)];
  if (joint.state != Joint::State::open) return joint.state != Joint::State::off;
  bool all = true, any = false;
  for (const shm::JointReduction::Operand& operand : core_->plan->joints[static_cast<std::size_t>(number)].operands) {
    if (operand.message < 0) continue;
    const bool is_here = bring(operand.message);
    all &= is_here;
    any |= is_here;
  }
  if (all) {
    launch(number);
    return true;
  }
  if (!any) return true;
  const auto now = std::chrono::steady_clock::now();
  if (joint.since == std::chrono::steady_clock::time_point{}) joint.since = now;
  if (now - joint.since < tuning.joint_patience) return true;
  joint.state = Joint::State::off;
  return false;
}

void Arrivals::launch(int number) {
  const shm::JointReduction& joint = core_->plan->joints[static_cast<std::size_t>(number)];
  const int result = joints_[static_cast<std::size_t>(number)].result;
  inputs_.clear();
  outputs_ = {address(core_->bases->at(joint.into, joint.into_at))};
  int message = -1;
  for (const shm::JointReduction::Operand& operand : joint.operands) {
    if (operand.message < 0) {
      inputs_.push_back(address(core_->bases->at(operand.buffer, operand.at)));
      continue;
    }
    message = operand.message;
    Arrival& arrival = at(message);
    inputs_.push_back(address(arrival.data));
    arrival.state = State::at_work;
    if (arrival.is_lent) puts_.add(result, message, arrival.loan, outputs_, arrival.answer);
  }
  cuda::Device& device = core_->device_of(message);
  auto* const stream = device.next_stream();
  const auto behind_steps = static_cast<int>(arrivals_.size());
  core_->work.post(behind_steps + number, device, stream, [&] {
    device.kernels().reduce(core_->plan->op, core_->plan->type, inputs_, outputs_,
                            Count{joint.bytes >> core_->plan->element_shift}, stream);
  });
  joints_[static_cast<std::size_t>(number)].state = Joint::State::at_work;
  ++core_->route.counters->reduced;
}

void Arrivals::worked(int number) {
  const auto steps = static_cast<int>(arrivals_.size());
  if (number < steps) return conclude(number);
  const auto joint = static_cast<std::size_t>(number - steps);
  joints_[joint].state = Joint::State::over;
  for (const shm::JointReduction::Operand& operand : core_->plan->joints[joint].operands)
    if (operand.message >= 0) conclude(operand.message);
}

void Arrivals::conclude(int index) {
  Arrival& arrival = at(index);
  let_go(index);
  if (arrival.is_lent) {
    core_->channel_of(index).release(core_->host.context().lane, arrival.envelope);
    core_->transferred(index);
    ++core_->route.counters->taken;
    core_->route.counters->taken_bytes += static_cast<std::uint64_t>(core_->step(index).bytes);
  }
  if (arrival.block.data != nullptr) core_->give_back(arrival.block);
  arrival.state = State::over;
}

void Arrivals::require_same_kind() const {
  if (!core_->plan->takes_turns) return;  // collectives are in other lanes
  for (const int index : pending_)
    core_->host.receiver().require_same_kind(core_->step(index));
}

void Arrivals::let_go(int index) {
  for (ExportedAddress* const address : {&at(index).source, &at(index).answer}) {
    if (address->is_there())
      core_->exchange.imports().release(core_->peer_of(index), *address, core_->step(index).device);
    *address = {};
  }
}

/// To be called when all kernels are over.
void Arrivals::abandon() noexcept {
  for (int index = 0; index < static_cast<int>(arrivals_.size()); ++index)
    let_go(index);
  pending_.clear();
}

}  // namespace tutti::ipc
