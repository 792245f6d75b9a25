#pragma once
// Where the ranks of a communicator are while one of them waits, and the report of that.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "lib/watch/records/journal.hpp"
#include "lib/watch/records/process_state.hpp"

namespace tutti::records {

/// Where one rank is with regard to one operation. Trivially copyable: it travels between nodes as it is.
struct Situation {
  enum class Whereabouts : std::uint8_t {
    silent,     ///< Nothing is known: it does not answer, or shares no memory.
    inside,     ///< In the same call.
    elsewhere,  ///< It has made another call under that number.
    done,       ///< It has done its part, and gone on.
    not_come,   ///< It has not called yet.
    failed,     ///< Its call failed.
  };
  Whereabouts place = Whereabouts::silent;
  bool has_call = false;      ///< Whether `call` is any.
  bool has_reported = false;  ///< Its own report of this hang is out.
  /// The record of the operation; of one that has not come, its latest of any communicator.
  Entry call{};
  std::int64_t age = 0;  ///< The age of `call`, in ns.
  Life life = Life::unknown;
  int signal = 0;  ///< That ended it; 0: none, or not known.
  int pid = 0;
  int world_rank = -1;
  std::array<char, 64> host{};
};

/// The situation of the rank whose journal it is. `now`: coarse_now().
[[nodiscard]] Situation situation_of(const Journal& journal, const Signature& call, std::int64_t now);
/// Whether the call has a number among the collectives of its communicator. Those in streams without the host have
/// none, and neither have messages.
[[nodiscard]] bool is_numbered(const Signature& call);
/// The entry of the operation alone, without a look at the process.
[[nodiscard]] std::optional<Entry> entry_of(const Journal& journal, CommunicatorId communicator,
                                            std::uint32_t sequence);
/// The entry by which a rank left the communicator; nothing: it did not.
[[nodiscard]] std::optional<Entry> closing_of(const Journal& journal, CommunicatorId communicator);

/// Whether a rank makes a communicator now.
[[nodiscard]] bool is_making(const Journal& journal);
/// The situation of a rank that should make a communicator.
[[nodiscard]] Situation making_situation_of(const Journal& journal, std::int64_t now);

/// Whether two calls of the same number on a communicator match: but for what ranks may give differently.
[[nodiscard]] bool match(const Signature& a, const Signature& b);

struct Pair {
  Signature mine{}, theirs{};
};
/// The first collective of a communicator, of those that both journals still have, in which two ranks did not call the
/// same.
[[nodiscard]] std::optional<Pair> first_mismatch(const Journal& mine, const Journal& theirs,
                                                 CommunicatorId communicator);

/// "call allreduce on rank 0, barrier on rank 1: rank 1 called barrier #5 (dissemination) where rank 0 called allreduce
/// #5 of 8 fp32, sum (ring)". What differs comes first: MPI cuts the texts of errors.
[[nodiscard]] std::string mismatch_in_words(const Signature& mine, const Signature& theirs);

/// The chain of waits from a rank down to its root: "rank 5 waits for 3, 3 for 0; rank 0 has not come: its last call
/// was broadcast #41 of 8 fp32 from rank 0 (binomial), which began 93 s ago". `all`: by rank.
[[nodiscard]] std::string chain_in_words(std::span<const Situation> all, int from);

/// The whole report of a call that has waited for `waited` ns, a line for each rank; of many that do the same, one.
[[nodiscard]] std::string hang_report(std::span<const Situation> all, const Signature& mine, std::int64_t waited);

/// The report of a rank that has waited for others to make a communicator.
[[nodiscard]] std::string making_report(std::span<const Situation> all, int rank, std::int64_t waited);

}  // namespace tutti::records
