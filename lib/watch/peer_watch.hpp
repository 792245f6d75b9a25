#pragma once
// What a rank knows of its peers: their failures, and calls of theirs that do not match its own.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/exec/port.hpp"
#include "lib/watch/other_ranks.hpp"
#include "lib/watch/records/situation.hpp"
#include "lib/watch/wait_cycle.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

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

/// What a communicator knows of its peers: their failures, and calls that do not match.
class PeerWatch {
 public:
  explicit PeerWatch(Membership& communicator)
      : communicator_(communicator), others_(communicator), cycles_(communicator) {}

  /// The failure of another rank, if any has told of one.
  [[nodiscard]] std::optional<PeerFailure> failure_of_peer() const;
  /// The failure of another rank, after a while in which word of it may arrive.
  [[nodiscard]] std::optional<PeerFailure> listen();
  /// How the calls of a rank up to this one do not match those of this rank, as far as that can be read.
  [[nodiscard]] std::optional<std::string> mismatch_with(const records::Signature& mine, int rank) const;
  /// Throws MismatchError if a rank's calls do not match this one, or it has closed the communicator.
  void require_match(const records::Signature& mine, int rank) const;
  /// Why a message is not the expected one: how the calls differ, if that is known, and then the message.
  [[nodiscard]] std::string explained(const records::Signature& mine, const WrongMessage& error) const;
  /// This rank cannot use the communicator any more: tells the others. Takes a while if there are other nodes.
  void tell(records::FailureKind kind, const std::string& why);
  /// A message of another rank of this communicator: an answer, or its failure.
  void take(const mpi::Letter& letter);
  [[nodiscard]] OtherRanks& others() { return others_; }
  [[nodiscard]] const OtherRanks& others() const { return others_; }
  [[nodiscard]] CycleSearch& cycles() { return cycles_; }

 private:
  Membership& communicator_;
  OtherRanks others_;
  CycleSearch cycles_;
  std::optional<PeerFailure> far_failure_{};
};

}  // namespace tutti::detail
