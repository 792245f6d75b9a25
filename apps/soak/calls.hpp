#pragma once
// Random calls: what they are, before there is any memory, and how they are drawn.

#include <cstdint>
#include <string>
#include <vector>

#include "apps/bench/values.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti::soak {

using bench::mixed;
using bench::Random;

/// How a call is made. Messages between pairs of ranks are of one of the last kinds, all others collectives.
enum class Kind : std::uint8_t { collective, batch, sendrecv, send };
inline constexpr int name_count = collective_count + 3;
/// Which form of the call is used. A persistent one is prepared once and started for every repetition.
enum class Way : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::string_view way_names[] = {"blocking", "nonblocking", "persistent"};  ///< One for each Way.
/// Which ranks use one buffer for input and output, where the collective allows it.
enum class InPlace : std::uint8_t { no, on_all_ranks, on_some_ranks };

/// A message between two ranks. Between the same two ranks, messages are matched in the order of the list.
struct Message {
  int from = 0, to = 0;
  std::int64_t count = 0;
};

/// A call that all ranks of one communicator make together.
struct Call {
  Kind kind = Kind::collective;
  Collective collective = Collective::barrier;
  Way way = Way::blocking;
  int communicator = 0;  ///< Its number among those of the thread.
  int size = 1;          ///< Ranks of the communicator.
  int root = 0;
  Type type = Type::uint8;
  Op op = Op::sum;
  std::string algorithm{};  ///< A name, as in Options.
  std::int64_t count = 0;   ///< Elements, as in Problem. Of no meaning where blocks or messages are listed.
  bool is_uneven = false;
  /// Where blocks are uneven: one count per rank, for alltoall one per sender and, within it, receiver.
  std::vector<std::int64_t> counts{};
  bool has_gaps = false;  ///< Blocks have offsets, each rank its own, with gaps and in any order.
  InPlace in_place = InPlace::no;
  bool by_mpi = false;  ///< The MPI computes the expected result, where it can.
  std::vector<Message> messages{};
  std::uint64_t key = 0;  ///< Makes the values of this call and the choices of each rank.
};

/// Calls that are under way at the same time, on one or several communicators. Each repetition of each of them has a
/// number of its own.
struct Step {
  std::int64_t first_call = 0;
  std::vector<Call> calls{};
  int repetitions = 1;  ///< Each with new values in the same buffers.
  /// Ranks start the calls of different communicators in different orders. Only if no call is blocking.
  bool has_mixed_order = false;
  std::uint64_t key = 0;
  [[nodiscard]] std::int64_t number_of(std::size_t call, int repetition) const {
    return first_call + repetition * static_cast<std::int64_t>(calls.size()) + static_cast<std::int64_t>(call);
  }
};

/// The names of collectives in the order of Collective, then those of messages in the order of Kind.
[[nodiscard]] std::vector<std::string> call_names();
/// The place of a call's name among them.
[[nodiscard]] constexpr std::size_t name_index(const Call& call) {
  return call.kind == Kind::collective
             ? static_cast<std::size_t>(call.collective)
             : static_cast<std::size_t>(collective_count - 1) + static_cast<std::size_t>(call.kind);
}

/// "exscan 'two_level' of 2048 int32, sum, blocking, ...": everything that the generator chose.
[[nodiscard]] std::string to_text(const Call& call);

/// Whether this rank uses one buffer for input and output.
[[nodiscard]] bool is_in_place(const Call& call, int rank);

// ---- How they are drawn: by a pure function of seed, thread, round and communicators, so that all ranks make the same
// ones.

/// The types that rounds draw: all but bool, whose operations are those of bytes under other names.
inline constexpr int drawn_types = static_cast<int>(Type::boolean);

/// The facts about a communicator that the generator needs.
struct CommunicatorShape {
  int size = 1;
  std::vector<int> nodes;  ///< The node of each rank, as Communicator::node_of gives it.
  int part = 0;            ///< Which part of MPI_COMM_WORLD it is: those of one split have different calls.
};

/// What calls are drawn from.
struct Repertoire {
  std::vector<int> names;  ///< Places in call_names().
  std::vector<Way> ways;
  /// The most that the input or output of one rank has, but for uneven blocks, which may have twice that.
  std::int64_t most_bytes;
  bool asks_mpi = false;  ///< The MPI computes many of the expected results.
};

/// The calls of a round, which uses the same communicators throughout, have the numbers round * calls_of_round onwards.
inline constexpr std::int64_t calls_of_round = 100;

/// A step, as far as it is known without the communicators.
struct StepOutline {
  std::int64_t first_call;
  int calls, repetitions;
  [[nodiscard]] std::int64_t end() const { return first_call + std::int64_t{calls} * repetitions; }
};

class Generator {
 public:
  Generator(Repertoire repertoire, std::uint64_t seed, int thread)
      : repertoire_(std::move(repertoire)), seed_(seed), thread_(thread) {}

  /// The steps of a round in their order.
  [[nodiscard]] std::vector<StepOutline> outlines(std::int64_t round) const;
  /// A step of a round on communicators of which this rank is a member.
  [[nodiscard]] Step step(const StepOutline& outline, const std::vector<CommunicatorShape>& communicators) const;

 private:
  Repertoire repertoire_;
  std::uint64_t seed_;
  int thread_;
};

}  // namespace tutti::soak
