#pragma once
// Looks after operations that wait for long: whether their calls match, whether their peers live, and reports of hangs.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/records/process_watch.hpp"
#include "lib/records/situation.hpp"
#include "lib/runtime/channel.hpp"
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
  explicit Watch(CommunicatorState& communicator) : communicator_(communicator) {}

  /// An operation has waited for so many ns: throws MismatchError or Error that says why it will never be over, if a
  /// sign of that is there. Reports a hang.
  void look(const Operation& operation, std::int64_t now);
  /// The failure of another rank, if any has told of one.
  [[nodiscard]] std::optional<PeerFailure> failure_of_peer() const;
  /// How the calls of a rank up to this one do not match those of this rank, as far as that can be read.
  [[nodiscard]] std::optional<std::string> mismatch_with(const records::Call& mine, int rank) const;
  /// Tells ranks on other nodes.
  void tell(records::FailureKind kind, const std::string& why);
  /// A message of another rank of this communicator.
  void take(const mpi::Word& word);
  /// Answers a question about this communicator: of this rank, and of those of its node that are not inside.
  void answer(const mpi::Word& question, int to);

 private:
  [[nodiscard]] const records::Journal* journal_of(int rank) const;
  [[nodiscard]] bool is_far(int rank) const { return journal_of(rank) == nullptr; }
  void require_match(const records::Call& mine, int rank) const;
  /// Whether a rank has made a call, and the blocking call in which it waits.
  struct Blocked {
    bool has_come = false;
    std::optional<records::Entry> blocked{};
  };
  [[nodiscard]] std::optional<Blocked> place_of(int rank, records::CommunicatorId id, std::uint32_t sequence) const;
  /// Ranks that wait for each other, and the communicator on which this one is waited for.
  struct Cycle {
    std::string text;
    CommunicatorState* last;
  };
  [[nodiscard]] std::optional<Cycle> cycle(const records::Call& mine, int rank) const;
  void require_no_cycle(const records::Call& mine, int rank, std::int64_t now);
  void require_alive(const Operation& operation);
  [[nodiscard]] int on_carrier(int rank) const;
  void begin_questions(const records::Call& mine);
  void ask(const records::Call& mine, int rank);
  void ask_now_and_then(const records::Call& mine, int rank, std::int64_t now);
  void ask_all(const records::Call& mine);
  void report_hang(const Operation& operation, std::int64_t now);
  [[nodiscard]] std::vector<records::Situation> situations(const records::Call& mine, std::int64_t now) const;
  [[nodiscard]] bool leaves_report_to_others(const std::vector<records::Situation>& all, const records::Call& mine,
                                             std::int64_t overdue) const;

  CommunicatorState& communicator_;
  std::optional<PeerFailure> far_failure_{};
  std::map<int, records::Situation> answers_{};  ///< By rank, of the latest question.
  std::uint32_t asked_about_ = 0;                ///< The number of the operation that it was about.
  std::int64_t asked_at_ = 0;
  bool has_asked_all_ = false;
  std::string suspected_{};  ///< A cycle of waits that the last look saw.
  std::int64_t suspected_at_ = 0;
};

}  // namespace tutti::detail
