#pragma once
// The description of a random call, before there is any memory. Equal on all ranks that take part in it.

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti::soak {

/// How a call is made. Messages between pairs of ranks are of one of the last kinds, all others collectives.
enum class Kind : std::uint8_t { collective, batch, sendrecv, send };
inline constexpr int name_count = collective_count + 3;
/// Which form of the call is used. A persistent one is prepared once and started for every repetition.
enum class Way : std::uint8_t { blocking, nonblocking, persistent };
inline constexpr std::string_view way_names[] = {"blocking", "nonblocking", "persistent"};  ///< By Way.
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
  std::string algorithm{};  ///< As in Options.
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

}  // namespace tutti::soak
