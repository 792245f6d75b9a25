#pragma once
// Looks after operations that wait for long: whether their calls match, whether their peers live, and reports of hangs.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/port.hpp"
#include "lib/records/situation.hpp"
#include "lib/runtime/channel.hpp"
#include "lib/runtime/other_ranks.hpp"
#include "lib/runtime/wait_cycle.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

class CommunicatorState;
class Operation;

/// Why a communicator cannot be used any more, as another rank has found out.
struct PeerFailure {
  records::FailureKind kind = records::FailureKind::error;
  std::string why;
};

/// Another rank cannot go on, so this one cannot either.
class PeerError : public Error {
 public:
  /// Whether other ranks know of it.
  enum class Told : bool { no, yes };
  PeerError(records::FailureKind kind, const std::string& why, Told told = Told::yes)
      : Error(why), kind_(kind), told_(told) {}
  [[nodiscard]] records::FailureKind kind() const { return kind_; }
  [[nodiscard]] Told told() const { return told_; }

 private:
  records::FailureKind kind_;
  Told told_;
};

/// Of one communicator. It costs nothing before an operation has waited for some milliseconds.
class Watch {
 public:
  explicit Watch(CommunicatorState& communicator)
      : communicator_(communicator), others_(communicator), cycles_(communicator) {}

  /// An operation still waits: throws MismatchError or Error that says why it will never be over, if a sign of that is
  /// there. Reports a hang.
  void look(Operation& operation, std::int64_t now);
  /// The failure of another rank, if any has told of one.
  [[nodiscard]] std::optional<PeerFailure> failure_of_peer() const;
  /// The same, after a while in which word of it may arrive.
  [[nodiscard]] std::optional<PeerFailure> listen();
  /// How the calls of a rank up to this one do not match those of this rank, as far as that can be read.
  [[nodiscard]] std::optional<std::string> mismatch_with(const records::Call& mine, int rank) const;
  /// Why a message is not the expected one: how the calls differ, if that is known, and then the message.
  [[nodiscard]] std::string explained(const records::Call& mine, const WrongMessage& error) const;
  /// This rank cannot use the communicator any more: tells the others. Takes a while if there are other nodes.
  void tell(records::FailureKind kind, const std::string& why);
  /// A message of another rank of this communicator: an answer, or its failure.
  void take(const mpi::Word& word);
  [[nodiscard]] OtherRanks& others() { return others_; }
  [[nodiscard]] const OtherRanks& others() const { return others_; }

 private:
  void require_match(const records::Call& mine, int rank) const;
  void require_no_cycle(const records::Call& mine, int rank, std::int64_t now);
  void require_alive(const Operation& operation);
  void require_no_loss(const Operation& operation, std::int64_t now);
  /// How long nothing has moved that the operation waits for, as far as this rank can see. A lower bound.
  [[nodiscard]] std::int64_t still_for(const Operation& operation, std::int64_t now) const;
  [[nodiscard]] std::uint64_t progress_of_others(const records::Call& mine) const;
  void require_device_moves(const Operation& operation, std::int64_t now) const;
  void report_hang(Operation& operation, std::int64_t now);
  [[nodiscard]] bool leaves_report_to_others(const std::vector<records::Situation>& all, const records::Call& mine,
                                             std::int64_t overdue) const;

  CommunicatorState& communicator_;
  OtherRanks others_;
  CycleSearch cycles_;
  std::optional<PeerFailure> far_failure_{};
  /// A message of which the last look saw that its sender is done with the call.
  struct Missing {
    const void* plan = nullptr;
    std::uint32_t sequence = 0;
    int step = -1;
    std::int64_t since = 0;
  };
  Missing missing_{};
};

}  // namespace tutti::detail
