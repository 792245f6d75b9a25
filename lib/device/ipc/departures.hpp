#pragma once
// The messages that leave a device: lent to peers where they are, or sent by way of the host.

#include <cstdint>
#include <vector>

#include "lib/device/ipc/core.hpp"

namespace tutti::ipc {

class Departures {
 public:
  explicit Departures(Core& core);

  /// A new run.
  void begin();
  [[nodiscard]] Posted post(int index, const std::byte* data);
  /// The peer has the data of a message that is still to be posted.
  void delivered(int index) { at(index).is_delivered = true; }
  /// Adds the steps that are over to `completed`.
  void poll(std::vector<int>& completed);
  /// The data of a message are in pinned memory.
  void fetched(int index);
  /// A message has left by way of the host.
  void sent_by_host(int index);
  void abandon() noexcept;

  /// The step of a message that is not over; -1: there is none.
  [[nodiscard]] int unfinished() const { return pending_.empty() ? -1 : pending_.front(); }

 private:
  enum class State : std::uint8_t { idle, waits, is_lent, is_fetched, leaves };
  struct Departure {
    State state = State::idle;
    bool is_delivered = false;
    ExportedAddress refused{};  ///< By its peer, in this run or one of the last: by way of the host it surely goes.
    const std::byte* data = nullptr;
    std::uint64_t loan = 0;
    ExportedAddress source{}, answer{};
    device::Block block{};
  };
  [[nodiscard]] Departure& at(int index) { return departures_[static_cast<std::size_t>(index)]; }
  /// True: the message is over.
  bool move(int index);
  bool leave(int index);
  bool lend(int index);
  bool is_taken(int index);
  void fetch(int index);
  bool send_by_host(int index, const std::byte* data);
  bool over(int index);
  [[nodiscard]] ExportedAddress place_of(int index, const std::byte* data);
  [[nodiscard]] const Allocation& allocation_at(int index, const std::byte* data);

  Core* core_;
  std::vector<Departure> departures_;  ///< By step.
  std::vector<int> pending_;
  std::vector<Allocation> known_;  ///< The allocations that this run has looked up.
  int runs_ = 0;
};

}  // namespace tutti::ipc
