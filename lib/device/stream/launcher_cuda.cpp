#include <algorithm>
#include <array>
#include <utility>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/device/driver/check.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/pending_waits.hpp"
#include "lib/device/ipc/exchange.hpp"
#include "lib/device/staging/device_port.hpp"
#include "lib/device/stream/launcher.hpp"
#include "lib/device/stream/reach_cuda.hpp"
#include "lib/device/stream/stream_order.hpp"

namespace tutti::stream {
namespace {

using cuda::check;
using cuda::driver;

constexpr std::int64_t line = 64;  // flags of different pairs are in lines of their own

using cuda::address;

class CudaLauncher final : public Launcher, private cuda::StreamWaits {
 public:
  /// Throws Error.
  explicit CudaLauncher(const Setup& setup)
      : me_(static_cast<std::size_t>(setup.me)),
        locals_(setup.locals.begin(), setup.locals.end()),
        counters_(setup.counters),
        device_(device::current_device()),
        order_(cuda::Devices::get().at(device_)),
        exchange_(shared_exchange(setup)),
        part_bytes_(setup.memory_bytes / 2 / std::ssize(locals_) / page * page),
        scratch_bytes_(setup.memory_bytes / 2),
        landings_(locals_.size()),
        flags_(locals_.size()) {}
  ~CudaLauncher() override {
    exchange_->exports().give_back(address_);
    for (const auto& [peer, address] : mapped_)
      exchange_->imports().release(peer, address, device_);
    if (!are_pending()) ipc::free_on(device_, memory_);  // else a program that never ends may still use it
  }

  /// Memory that peers may map. Throws Error.
  void prepare(const Setup& setup) {
    const bool is_alone = locals_.size() == 1;
    if (!is_alone && !exchange_->flags().is_there()) throw Error("the ranks of the node share no memory for flags");
    memory_ = ipc::allocate_on(device_, setup.memory_bytes);
    if (memory_ == nullptr) throw Error("no memory on the device");
    landings_[me_] = address(memory_);
    if (is_alone) return;
    address_ = exchange_->lend(allocation_of(memory_), memory_, context());
    flags_at_ = exchange_->flags().own(setup.context, flag_bytes());
  }

  [[nodiscard]] Offer offer() const override {
    return {.is_there = locals_.size() == 1 || address_.is_there() ? 1 : 0,
            .number = address_.number,
            .generation = address_.generation,
            .offset = address_.offset,
            .flags_at = flags_at_};
  }
  [[nodiscard]] bool accept(std::span<const Offer> of_all) override {
    for (std::size_t rank = 0; rank < of_all.size(); ++rank) {
      const Offer& offer = of_all[rank];
      if (offer.is_there == 0) return false;
      if (of_all.size() == 1) return true;
      flags_[rank] = exchange_->flags().address_of(offer.flags_at, flag_bytes(), device_);
      if (rank == me_) continue;
      const ipc::ExportedAddress address{offer.number, offer.generation, offer.offset};
      const ipc::Imports::Found found = exchange_->imports().find(locals_[rank], address, device_);
      if (found.state != ipc::Imports::State::mapped) return false;
      exchange_->imports().hold(locals_[rank], address, device_);
      mapped_.emplace_back(locals_[rank], address);
      landings_[rank] = found.address;
    }
    return true;
  }
  [[nodiscard]] Room room() const override { return {part_bytes_, scratch_bytes_}; }
  [[nodiscard]] int device() const override { return device_; }
  [[nodiscard]] bool is_busy() const override { return is_lost_ || order_.is_busy(); }

  void enter(CUstream_st* stream) override {
    const cuda::ScopedContext scope{context()};
    order_.enter(stream);
  }
  void launch(const Pieces& call, const void* in, void* out, const Reach* reach, CUstream_st* stream) override {
    const cuda::ScopedContext scope{context()};
    reach_ = static_cast<const CudaReach*>(reach);
    try {
      put(call, in, out, stream);
    } catch (...) {
      batch_.clear();
      is_lost_ = true;  // unless the part that is there can be marked
      order_.leave(stream);
      is_lost_ = false;
      throw;
    }
    order_.leave(stream);
  }
  [[nodiscard]] Reach& lend(const void* in, void* out) override {
    return *reaches_.emplace_back(std::make_unique<CudaReach>(exchange_, locals_, device_, in, out));
  }
  void give_back(Reach& reach) noexcept override {
    std::erase_if(reaches_, [&](const auto& each) { return each.get() == &reach; });
  }

 private:
  static constexpr std::int64_t page = 4096;
  using Bases = std::array<CUdeviceptr, 3>;

  [[nodiscard]] bool are_in_graphs() const noexcept override { return order_.are_graphs_alive(); }
  [[nodiscard]] bool are_pending() const noexcept override {
    try {
      return is_busy();
    } catch (const Error&) {  // the device is lost: nothing waits any more
      return false;
    }
  }
  static std::shared_ptr<ipc::Exchange> shared_exchange(const Setup& setup) {
    static_cast<void>(ipc::exchange_of(*setup.fabric, *setup.exchange));
    return *setup.exchange;
  }
  [[nodiscard]] CUcontext context() const { return cuda::Devices::get().at(device_).context(); }
  [[nodiscard]] std::int64_t flag_bytes() const { return (std::ssize(locals_) * line + page - 1) / page * page; }
  /// The flags that a rank's peers set are in its page.
  [[nodiscard]] CUdeviceptr flag(std::size_t from, std::size_t to) const {
    return flags_[to] + static_cast<CUdeviceptr>(from) * line;
  }

  void put(const Pieces& call, const void* in, void* out, CUstream stream) {
    counters_->parts += call.pieces.empty() ? 0 : call.pieces.size() - 1;
    for (const Piece& piece : call.pieces) {
      const Bases bases{address(in) + static_cast<CUdeviceptr>(piece.input_at),
                        address(out) + static_cast<CUdeviceptr>(piece.output_at), scratch_of(me_)};
      ++counters_->programs;
      run(call.programs[piece.program], bases, stream);
    }
  }
  void run(const PlannedProgram& what, const Bases& bases, CUstream stream) {
    for (const Command& command : what.program.commands) {
      if (command.is_of_flag()) {
        add_flag(command);
        continue;
      }
      put_flags(stream);
      work(command, what.plan, bases, stream);
    }
    put_flags(stream);
    if (!needs_finish(what.plan.op) || what.plan.count == 0) return;
    kernels().finish(what.plan.op, what.plan.type, bases[1], Count{what.plan.count}, what.plan.ranks, stream);
    ++counters_->kernels;
  }

  void add_flag(const Command& command) {
    const auto peer = static_cast<std::size_t>(command.peer);
    const bool is_mine = command.does == Does::wait_until_free || command.does == Does::tell;
    const bool waits = command.does == Does::wait_until_free || command.does == Does::wait_for_message;
    CUstreamBatchMemOpParams flag_of{};
    const CUdeviceptr at = is_mine ? flag(me_, peer) : flag(peer, me_);
    if (waits) {
      flag_of.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
      flag_of.waitValue.address = at;
      flag_of.waitValue.value = command.number;
      flag_of.waitValue.flags = is_mine ? CU_STREAM_WAIT_VALUE_EQ : CU_STREAM_WAIT_VALUE_GEQ;
    } else {
      flag_of.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      flag_of.writeValue.address = at;
      flag_of.writeValue.value = command.number;
    }
    batch_.push_back(flag_of);
    ++(waits ? counters_->waits : counters_->writes);
  }
  void put_flags(CUstream stream) {
    constexpr std::size_t most = 255;  // of a call of the driver: its documentation has "less than 256"
    for (std::size_t first = 0; first < batch_.size(); first += most)
      check(driver()->StreamBatchMemOp(stream, static_cast<unsigned>(std::min(most, batch_.size() - first)),
                                       batch_.data() + first, 0),
            "cuStreamBatchMemOp");
    batch_.clear();
  }

  [[nodiscard]] const cuda::Kernels& kernels() const { return cuda::Devices::get().at(device_).kernels(); }
  [[nodiscard]] CUdeviceptr scratch_of(std::size_t rank) const {
    return landings_[rank] + static_cast<CUdeviceptr>(part_bytes_ * std::ssize(locals_));
  }
  [[nodiscard]] CUdeviceptr at(const Spot& spot, const Bases& bases) const {
    const auto offset = static_cast<CUdeviceptr>(spot.at);
    const auto peer = static_cast<std::size_t>(spot.peer);
    const auto part = static_cast<CUdeviceptr>(part_bytes_);
    switch (spot.of) {
      case Spot::Of::landing:
        return landings_[me_] + part * peer + offset;
      case Spot::Of::remote:
        return landings_[peer] + part * me_ + offset;
      case Spot::Of::lent:
        return (spot.buffer == Buffer::scratch ? scratch_of(peer) : reach_->at(spot.peer, spot.buffer)) + offset;
      case Spot::Of::buffer:
        break;
    }
    return bases[static_cast<std::size_t>(spot.buffer)] + offset;
  }

  void work(const Command& command, const shm::SharedPlan& plan, const Bases& bases, CUstream stream) {
    inputs_.clear();
    outputs_.clear();
    for (const Spot& spot : command.inputs)
      inputs_.push_back(at(spot, bases));
    for (const Spot& spot : command.outputs)
      outputs_.push_back(at(spot, bases));
    const bool copies = command.does == Does::copy;
    ++(copies && outputs_.size() == 1 ? counters_->copies : counters_->kernels);
    const Count count{command.bytes >> plan.element_shift};
    if (copies && outputs_.size() == 1)
      check(driver()->MemcpyAsync(outputs_[0], inputs_[0], static_cast<std::size_t>(command.bytes), stream),
            "cuMemcpyAsync");
    else if (copies)
      kernels().reduce(Op::Kind::sum, plan.type, inputs_, outputs_, count, stream);  // of one operand
    else if (plan.op.kind() == Op::Kind::user)
      kernels().combine(plan.op.kernel(), inputs_[0], inputs_[1], outputs_[0], count, stream);
    else
      kernels().reduce(plan.op, plan.type, inputs_, outputs_, count, stream);
  }

  std::size_t me_;
  std::vector<int> locals_;
  Counters* counters_;
  int device_;
  StreamOrder order_;
  bool is_lost_ = false;  ///< A part of a call is in a stream, and nobody knows when it is over.
  std::shared_ptr<ipc::Exchange> exchange_;
  std::int64_t part_bytes_, scratch_bytes_, flags_at_ = 0;
  std::byte* memory_ = nullptr;
  ipc::ExportedAddress address_{};
  std::vector<std::pair<int, ipc::ExportedAddress>> mapped_;
  std::vector<CUdeviceptr> landings_, flags_;  ///< By rank.
  std::vector<CUstreamBatchMemOpParams> batch_;
  std::vector<CUdeviceptr> inputs_, outputs_;
  std::vector<std::unique_ptr<CudaReach>> reaches_;
  const CudaReach* reach_ = nullptr;  ///< The reach of the call that is being launched.
};

}  // namespace

std::unique_ptr<Launcher> make_launcher(const Setup& setup) try {
  if (setup.memory_bytes == 0 || driver() == nullptr || cuda::StreamWaits::any_pending()) return nullptr;
  if (setup.locals.size() > 1 && !device::can_wait_in_streams(device::current_device())) return nullptr;
  auto launcher = std::make_unique<CudaLauncher>(setup);
  launcher->prepare(setup);
  return launcher;
} catch (const Error&) {  // no context, no memory: the host moves calls in streams
  return nullptr;
}

}  // namespace tutti::stream
