#pragma once
// The record of an operation's runs, which other processes of the node may read.

#include <cstdint>

#include "lib/records/recorder.hpp"
#include "lib/runtime/lanes.hpp"

namespace tutti::detail {

class CommunicatorState;
struct PlanKey;

class OperationRecord {
 public:
  OperationRecord(const CommunicatorState& communicator, const PlanKey& key);

  /// The names of the next runs' calls: records::Call::mpi.
  void name(std::uint8_t mpi) {
    std::uint64_t& word = call_[records::manner_word];
    constexpr std::uint64_t mask = ((std::uint64_t{1} << records::mpi_bits) - 1) << records::mpi_shift;
    word = (word & ~mask) | static_cast<std::uint64_t>(mpi) << records::mpi_shift;
  }
  // A run, from its call to its end. What is not inside has number 0.
  void enter(records::Recorder& recorder, std::uint64_t sequence, records::Manner manner) {
    number_ = recorder.enter(call_, sequence, manner);
    sequence_ = static_cast<std::uint32_t>(sequence);
  }
  void leave(records::Recorder& recorder, records::State state) {
    recorder.leave(number_, state);
    number_ = 0;
  }
  void set_wait(records::Recorder& recorder, const records::Wait& wait) const { recorder.set_wait(number_, wait); }
  [[nodiscard]] bool is_inside() const { return number_ != 0; }

  /// As it was entered last, but for the manner.
  [[nodiscard]] records::Call call() const {
    records::Call call = records::unpack(call_);
    call.sequence = sequence_;
    return call;
  }

 private:
  records::Packed call_;
  std::uint64_t number_ = 0;
  std::uint32_t sequence_ = 0;
};
static_assert(static_cast<int>(Kind::persistent) == static_cast<int>(records::Manner::persistent));

/// A number that differs, but for a chance of one in 2^32, between calls that do not match: of the collective, the
/// root, the count, the type, the operation, the algorithm with its parameter and segments; none of which only one rank
/// knows. Of messages between pairs it is 0.
[[nodiscard]] std::uint32_t fingerprint_of(const PlanKey& key);

}  // namespace tutti::detail
