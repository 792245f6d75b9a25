#pragma once
// Faults that are made on purpose, for tests of what programs are told when a rank dies or a message is lost:
// TUTTI_FAULTS, docs/diagnosis.md.

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "lib/core/plan/compiled_plan.hpp"

namespace tutti {

/// "kill:rank=1,message=50": the kind of a fault, and when it happens. The rank is that in MPI_COMM_WORLD; its
/// messages, sent or received, and its plans count from 1.
struct Fault {
  enum class Kind : std::uint8_t {
    kill,        ///< SIGKILL, before the message.
    stop,        ///< SIGSTOP, before the message.
    delay,       ///< Sleeps before the message.
    drop,        ///< The message is not sent. Only sends count.
    corrupt,     ///< It is sent with a wrong number in its header. Only sends count.
    allocation,  ///< There is no memory for the plan.
  };
  Kind kind = Kind::kill;
  int rank = 0;
  std::int64_t number = 1;  ///< The number of the message, or of the plan.
  int peer = -1;            ///< Only messages to or from this rank of the communicator count; -1: all.
  std::int64_t milliseconds = 0;
};

/// Reads "seed=7;kill:rank=1,message=1-500;delay:rank=0,message=3,milliseconds=20". A range stands for a number in it
/// that follows from the seed. Throws ArgumentError that names the item and what is allowed.
[[nodiscard]] std::vector<Fault> read_faults(std::string_view text);

/// The faults of this process, each of which happens once. Not thread-safe.
class Faults {
 public:
  Faults(const std::vector<Fault>& all, int rank);

  /// A message is about to be posted. Returns the step to post, which lives as long as this; nullptr: none.
  [[nodiscard]] const CompiledStep* before_message(const CompiledStep& step);
  /// A plan is about to be made. Throws std::bad_alloc.
  void before_plan();

 private:
  struct Counted {
    Fault fault;
    std::int64_t seen = 0;  ///< Messages, or plans.
  };
  std::vector<Counted> faults_;
  std::deque<CompiledStep> corrupted_;
};

}  // namespace tutti
