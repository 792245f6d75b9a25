#include "lib/device/stream/reach_cuda.hpp"

#include <algorithm>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/relaxed_capture.hpp"
#include "tutti/error.hpp"

namespace tutti::stream {

CudaReach::CudaReach(std::shared_ptr<ipc::Exchange> exchange, std::vector<int> locals, int device, const void* in,
                     void* out)
    : exchange_(std::move(exchange)), locals_(std::move(locals)), device_(device), mapped_(locals_.size()) {
  in_ = lend(in);
  out_ = lend(out);
}

CudaReach::~CudaReach() {
  exchange_->exports().give_back(in_);
  exchange_->exports().give_back(out_);
  for (const auto& [owner, address] : borrowed_)
    exchange_->imports().release(owner, address, device_);
}

/// No address if peers cannot map it.
ipc::ExportedAddress CudaReach::lend(const void* data) try {
  const cuda::RelaxedCapture relaxed;
  const Allocation allocation = allocation_of(data);
  if (allocation.memory.kind != MemoryKind::device) return {};
  return exchange_->lend(allocation, static_cast<const std::byte*>(data), cuda::Devices::get().at(device_).context());
} catch (const Error&) {  // no memory for the table
  return {};
}

Loan CudaReach::mine() const {
  const auto buffer = [](const ipc::ExportedAddress& address) {
    return Loan::Buffer{address.number, address.generation, address.offset};
  };
  return {buffer(in_), buffer(out_)};
}

Reach::State CudaReach::map(const Program& program, std::span<const Loan> of_all) {
  const cuda::RelaxedCapture relaxed;
  exchange_->exports().serve();
  State state = State::mapped;
  for (const Command& command : program.commands)
    for (const auto* const spots : {&command.inputs, &command.outputs})
      for (const Spot& spot : *spots)
        if (spot.of == Spot::Of::lent && spot.buffer != Buffer::scratch)
          state = std::min(state, map(spot, of_all[static_cast<std::size_t>(spot.peer)]));
  return state;
}

Reach::State CudaReach::map(const Spot& spot, const Loan& loan) {
  const auto peer = static_cast<std::size_t>(spot.peer);
  Mapping& mapped = mapped_[peer][static_cast<std::size_t>(spot.buffer)];
  if (mapped) return State::mapped;
  const Loan::Buffer& buffer = spot.buffer == Buffer::input ? loan.in : loan.out;
  const ipc::ExportedAddress address{buffer.number, buffer.generation, buffer.offset};
  if (!address.is_there()) return State::refused;
  const ipc::Imports::Found found = exchange_->imports().find(locals_[peer], address, device_);
  if (found.state == ipc::Imports::State::coming) return State::coming;
  if (found.state == ipc::Imports::State::refused) return State::refused;
  exchange_->imports().hold(locals_[peer], address, device_);
  borrowed_.emplace_back(locals_[peer], address);
  mapped = found.address;
  return State::mapped;
}

}  // namespace tutti::stream
