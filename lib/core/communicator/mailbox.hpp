#pragma once
// Messages by which ranks tell each other where they are, and what failed, beside those of collectives.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <functional>
#include <list>
#include <vector>

#include "lib/watch/records/situation.hpp"

namespace tutti::mpi {

/// One message, but for bytes that may follow. There are few: only ranks that have waited for long, that have failed,
/// or that compare arguments (TUTTI_CHECK) send any.
struct Letter {
  enum class Kind : std::uint8_t {
    question,   ///< Where are you, with regard to `call`?
    answer,     ///< There: `situation` of rank `rank` of the communicator.
    failure,    ///< This rank cannot use the communicator any more: `text` says why.
    arguments,  ///< The arguments of a call, which rank 0 compares (ArgumentCheck), follow.
    verdict,    ///< What rank 0 found: the text that follows says what does not match; empty: all matches.
  };
  Kind kind = Kind::question;
  records::FailureKind failure = records::FailureKind::error;
  std::int32_t rank = 0;
  records::Signature call{};
  records::Situation situation{};
  std::array<char, 1024> text{};
};

/// The mailbox of one carrier. Calls that wait inside the library serve it, and nothing else does. All members need an
/// Entry (lib/core/run/progress.hpp). Errors of the MPI are left alone: the other side may be dead.
class Mailbox {
 public:
  Mailbox(MPI_Comm comm, int tag) : comm_(comm), tag_(tag) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  /// Messages that have not left are given up.
  ~Mailbox();

  /// `rank`: on the carrier.
  using Rest = std::vector<std::byte>;
  void send(int rank, const Letter& letter, const Rest& rest = {});
  /// Gives all messages that have come to `take(letter, rest, rank on the carrier)`, which may send.
  void serve(const std::function<void(const Letter& letter, const Rest& rest, int from)>& take);

 private:
  struct Sent {
    Rest bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void forget_sent();

  MPI_Comm comm_;
  int tag_;
  std::list<Sent> sent_;  ///< Until the MPI is done with them.
};

}  // namespace tutti::mpi
