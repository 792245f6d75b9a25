#pragma once
// The signature of a call: one description for everything that watches calls, and for what ranks tell each other of
// them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti::records {

/// The kind of an operation: a collective, or one of those behind.
enum class Action : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  allreduce,
  reduce_scatter,
  allgather,
  gather,
  scatter,
  alltoall,
  scan,
  exscan,
  messages,            ///< Between pairs of ranks; part of no collective.
  close_communicator,  ///< Its rank makes no further call there.
  make_communicator,   ///< The communicator has no name yet.
};
static_assert(static_cast<int>(Action::messages) == collective_count);

/// How a call was made. As in MPI, calls of different manners do not match each other, unless the communicator lets
/// them.
enum class Manner : std::uint8_t { blocking, nonblocking, persistent, in_stream };

/// A communicator: the number by which its messages are told apart, and one more of its rank 0, as numbers come again.
struct CommunicatorId {
  static constexpr int nonce_bits = 18;
  std::uint32_t value = 0;
  [[nodiscard]] static constexpr CommunicatorId of(int context, std::uint32_t nonce) {
    return {static_cast<std::uint32_t>(context) << nonce_bits | (nonce & ((1U << nonce_bits) - 1))};
  }
  [[nodiscard]] constexpr int context() const { return static_cast<int>(value >> nonce_bits); }
  friend constexpr bool operator==(CommunicatorId, CommunicatorId) = default;
};

/// How reductions add, where it is not in the elements' own type.
inline constexpr std::array<std::string_view, 5> adding_names{
    "", "in fp32", "in fp64", "in fp32, rounded stochastically", "in fp64, rounded stochastically"};

/// What stands for the schedules of a file in Signature::algorithm, as other processes know nothing of them.
inline constexpr int algorithm_of_file = 254;

/// A call as its rank made it, but for the time. It is made once, with the plan; sequence, manner and `mpi` change from
/// call to call.
struct Signature {
  Action action = Action::barrier;
  Manner manner = Manner::blocking;
  Type type = Type::uint8;
  Op::Kind op = Op::Kind::sum;
  std::uint8_t adding = 0;        ///< 0: in the elements' own type; else by adding_names.
  bool is_uneven = false;         ///< Blocks are listed: `count` is this rank's alone.
  std::int64_t count = 0;         ///< Elements; for messages, bytes.
  int root = 0;                   ///< For messages, the peer of the first; -1: there is none.
  int rank = 0, ranks = 1;        ///< This process in the communicator, and its size.
  int algorithm = -1;             ///< Place in the registry (algorithms()); -1: none; or `algorithm_of_file`.
  int parameter = 0;              ///< The algorithm's; for messages, their number. At most 65535.
  std::uint32_t fingerprint = 0;  ///< Equal on all ranks whose calls match.
  CommunicatorId communicator{};
  std::uint32_t sequence = 0;  ///< The number of the operation on its communicator.
  /// How the program named the call and its elements: mpi_names.hpp. Does not tell calls apart.
  std::uint8_t mpi = 0;
  bool any_manner = false;  ///< Its communicator lets calls of all manners match.
  friend bool operator==(const Signature&, const Signature&) = default;
};

/// All but state, time and wait: five words, which an operation has ready.
using Packed = std::array<std::uint64_t, 5>;
[[nodiscard]] Packed pack(const Signature& call);
[[nodiscard]] Signature unpack(const Packed& words);
/// The words that change from call to call: sequence and manner.
inline constexpr std::size_t sequence_word = 1, manner_word = 2;
inline constexpr int manner_shift = 24;
/// The manner has two bits, and Signature::mpi those behind it.
inline constexpr int manner_bits = 2, mpi_shift = manner_shift + manner_bits, mpi_bits = 6;

}  // namespace tutti::records
