#pragma once
// What a rank knows of the others of a communicator: by the records of those that share its memory, by questions to the
// rest.

#include <cstdint>
#include <map>
#include <vector>

#include "lib/core/communicator/membership.hpp"
#include "lib/watch/records/situation.hpp"

namespace tutti::detail {

/// Ranks are those of the communicator.
class OtherRanks {
 public:
  explicit OtherRanks(Membership& communicator) : communicator_(communicator) {}

  /// nullptr: it shares no memory with this rank.
  [[nodiscard]] const records::Journal* journal_of(int rank) const;
  [[nodiscard]] bool is_far(int rank) const { return journal_of(rank) == nullptr; }

  /// Asks a far rank where it is with regard to this rank's call, unless it was asked lately.
  void ask_now_and_then(const records::Signature& mine, int rank, std::int64_t now);
  /// Asks all far ranks, once for each call.
  void ask_all(const records::Signature& mine);
  /// An answer has come.
  void take(const mpi::Letter& answer);
  /// Answers a question: for this rank, and for those of its node that are not inside.
  void answer(const mpi::Letter& question, int to);

  /// The answer of a rank about the operation of that number; nullptr: there is none.
  [[nodiscard]] const records::Situation* answer_of(int rank, std::uint32_t sequence) const;
  /// The situations of all ranks, as far as known.
  [[nodiscard]] std::vector<records::Situation> situations(const records::Signature& mine, std::int64_t now) const;
  /// Sends to a rank.
  void send(int rank, const mpi::Letter& letter);

 private:
  void begin_questions(const records::Signature& mine);
  void ask(const records::Signature& mine, int rank);

  Membership& communicator_;
  std::map<int, records::Situation> answers_{};  ///< The answers to the latest question; the key is the rank.
  std::uint32_t asked_about_ = 0;                ///< The number of the operation that it was about.
  std::int64_t asked_at_ = 0;
  bool has_asked_all_ = false;
};

}  // namespace tutti::detail
