#pragma once
// The messages that a device receives: taken in the memory of the sender, or by way of the host.

#include <cstdint>
#include <vector>

#include "lib/device/ipc/departures.hpp"
#include "lib/device/ipc/puts.hpp"

namespace tutti::ipc {

class Arrivals {
 public:
  Arrivals(Core& core, Departures& departures);

  void begin();
  [[nodiscard]] std::int64_t reduced(const CompiledStep& step) const;
  [[nodiscard]] Posted post(int index, const Operands& operands);
  /// Adds the steps that are over to `completed`.
  void poll(std::vector<int>& completed);
  /// The data of a message have been taken, or a joint reduction is over (numbered behind the steps).
  void worked(int number);
  void received_by_host(int index);
  void require_same_kind() const;
  void abandon() noexcept;

  /// The step of a message that is not over; -1: there is none.
  [[nodiscard]] int unfinished() const { return pending_.empty() ? -1 : pending_.front(); }

 private:
  enum class State : std::uint8_t { idle, by_host, here, at_work, over };
  struct Arrival {
    State state = State::idle;
    bool is_posted = false, is_lent = false;
    Operands operands{};
    const std::byte* data = nullptr;  ///< Where the device reads them.
    shm::DeviceLoan loan{};
    ExportedAddress source{}, answer{};  ///< The sender's memory in use.
    shm::Envelope envelope{};
    device::Block block{};
  };
  /// A joint reduction. It takes all its messages at once, or none.
  struct Joint {
    enum class State : std::uint8_t { open, at_work, over, off } state = State::open;
    std::chrono::steady_clock::time_point since{};
    int result = -1;  ///< The step that writes its result.
  };
  [[nodiscard]] Arrival& at(int index) { return arrivals_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int joint_of(int index) const { return core_->side(index).joint; }
  bool move(int index);
  /// Makes the data of a message readable for the device, if they have come. True: they are.
  bool bring(int index);
  void bring_from_peer(int index, const shm::Incoming& incoming, const shm::Envelope& came);
  void bring_by_host(int index);
  void work_alone(int index);
  bool reduce_jointly(int number);
  void launch(int number);
  /// A message has been taken: its sender may go on.
  void conclude(int index);
  void let_go(int index);

  Core* core_;
  Puts puts_;
  std::vector<Arrival> arrivals_;  ///< By step.
  std::vector<Joint> joints_;
  std::vector<int> pending_;
  std::vector<CUdeviceptr> inputs_, outputs_;  ///< Arguments of the kernel that is being launched.
};

}  // namespace tutti::ipc
