#pragma once
// All observers of one operation: its record and the watch for hangs always, others where settings ask for them.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/core/communicator/workspace.hpp"
#include "lib/watch/hang_watch.hpp"
#include "lib/watch/observer.hpp"
#include "lib/watch/operation_trace.hpp"

namespace tutti::detail {

class Observers {
 public:
  /// `is_waited_for`: whether the program does nothing but wait for the operation. All arguments must outlive this.
  Observers(Workspace& workspace, const PreparedPlan& plan, const bool& is_waited_for);

  /// Sets how the calls of the next runs are named, records::Signature::mpi, and Entrance::has_gaps of these.
  void name(std::uint8_t mpi, bool has_gaps) {
    call_.mpi = mpi;
    has_gaps_ = has_gaps;
    std::uint64_t& word = packed_[records::manner_word];
    constexpr std::uint64_t mask = ((std::uint64_t{1} << records::mpi_bits) - 1) << records::mpi_shift;
    word = (word & ~mask) | static_cast<std::uint64_t>(mpi) << records::mpi_shift;
  }
  /// The call of the latest run.
  [[nodiscard]] const records::Signature& call() const { return call_; }
  /// Whether only the record and the watch for hangs look at the operation.
  [[nodiscard]] bool are_usual() const { return others_.empty(); }
  /// The subject for which a trace records the steps; nullptr: none does.
  [[nodiscard]] trace::Subject* traced() const { return traced_; }

  // The record, which other processes of the node may read. A call on the fast path has nothing else.
  void enter_record(std::uint64_t sequence, records::Manner manner) {
    call_.sequence = static_cast<std::uint32_t>(sequence);
    call_.manner = manner;
    number_ = recorder_.enter(packed_, sequence, manner);
  }
  void leave_record(records::State state) {
    recorder_.leave(number_, state);
    number_ = 0;
  }
  [[nodiscard]] bool is_recorded() const { return number_ != 0; }

  // The functions of Observer, for all observers.
  struct Buffers {
    const void* in = nullptr;
    void* out = nullptr;
  };
  void entered(std::uint64_t sequence, records::Manner manner, bool for_stream, const Buffers& buffers);
  [[nodiscard]] std::optional<records::Wait> delays();
  void started(std::uint64_t sequence) {
    hang_watch_.started(sequence);
    for (const auto& other : others_)
      other->started(sequence);
  }
  /// Whether the operation has waited for so long that it is to be looked at.
  [[nodiscard]] bool want_a_look(std::int64_t now) const { return hang_watch_.wants_a_look(now); }
  [[nodiscard]] std::int64_t since() const { return hang_watch_.since(); }
  void waits(Look look);
  void left();
  void failed();

 private:
  records::Recorder& recorder_;
  records::Signature call_;
  records::Packed packed_;
  bool has_gaps_ = false;
  std::uint64_t number_ = 0;  ///< The number of the record of a run that has not been left; 0: none.
  HangWatch hang_watch_;
  trace::Subject* traced_ = nullptr;
  std::vector<std::unique_ptr<Observer>> others_;
};

}  // namespace tutti::detail
