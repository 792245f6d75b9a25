#pragma once
// A schedule made ready to run: flat arrays of steps in bytes, with counters instead of lists of dependencies.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/reduce/kernels.hpp"
#include "lib/schedule/choice.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/op.hpp"

namespace tutti {

/// recv_reduce receives into one operand of the reduction that follows at once.
enum class Verb : std::uint8_t { send, recv, recv_reduce, reduce, copy };

/// How a message travels. Both of its ends come to the same.
enum class Path : std::uint8_t {
  mpi,      ///< On this and the next the engine reduces what a recv_reduce received; else that is done as it arrives.
  network,  ///< A transport that is no part of the core (lib/transport/network.hpp).
  swap,     ///< Shared memory, in swapped slots (lib/transport/shm/eager/channel.hpp).
  ring,     ///< Shared memory, in rings of slots.
};
[[nodiscard]] constexpr bool is_shared_memory(Path path) { return path >= Path::swap; }

/// `lhs` is what a send or a copy reads; `into` is what a receive, reduction or copy writes. A recv_reduce has the
/// operands and the result of its reduction; the message lands in the operand that `lands_left` says.
struct CompiledStep {
  Verb verb = Verb::copy;
  bool lands_left = false;
  Path path = Path::mpi;
  Buffer lhs = Buffer::input, rhs = Buffer::input, into = Buffer::input;
  int peer = 0;       ///< Rank in the communicator.
  int message = 0;    ///< Number on its pair and direction.
  int previous = -1;  ///< The step of the message before it on its pair and direction; -1: it is the first.
  int next = -1;      ///< Of the one after it; -1: it is the last.
  int slot = 0;       ///< With Path::swap: pieces before it on its pair and direction.
  int group = -1;     ///< Of a send: the sends of the same data to other ranks, through shared memory; -1: alone.
  /// Of a send through shared memory: number of the message back whose data may be written to `into` as soon as this
  /// one's have been read; -1: none.
  int answer = -1;
  int forward = -1;         ///< Of a recv_reduce: the step that sends its result, and waits for nothing else; -1: none.
  int joint = -1;           ///< The joint reduction that this receive or reduction is part of; -1: none.
  bool makes_room = false;  ///< Of a send: a reduction waits for its data to be out of the way.
  int first_dependent = 0, last_dependent = 0;
  std::int64_t lhs_at = 0, rhs_at = 0, into_at = 0;  ///< Bytes from the start of the buffer.
  std::int64_t bytes = 0;
  [[nodiscard]] bool is_message() const { return verb != Verb::reduce && verb != Verb::copy; }
};

/// Reductions one after the other that all messages of may be taken at once, in one pass over memory:
/// into = operands[0] (+) operands[1] (+) ..., from left to right. The bits are the same as one by one; what one of
/// these reductions writes only the next one reads.
struct JointReduction {
  /// What a message brings, or what this rank has.
  struct Operand {
    int message = -1;  ///< The step that receives it; -1: none does.
    Buffer buffer = Buffer::input;
    std::int64_t at = 0;
  };
  static constexpr std::size_t most_operands = 32;
  std::vector<Operand> operands{};
  Buffer into = Buffer::output;
  std::int64_t into_at = 0, bytes = 0;
};

/// How many messages of one pair and direction may be in flight: message m starts when all up to m - window are over.
/// Transports rely on it to tell messages apart by a few bits, and it bounds how many receives a plan has posted at a
/// time, however many segments there are. Any window is safe: schedules are proved for one. A bound on all messages of
/// a plan together would not be: those that it admits might wait for ones that it does not.
struct MessageWindow {
  /// As many keep any network busy; of more, an MPI looks through longer lists for each that arrives.
  static constexpr int most = 64;
  int messages = 1;
  bool takes_turns = true;  ///< As CompiledPlan::takes_turns.
  Path far = Path::mpi;     ///< How messages travel that shared memory does not carry.
};

/// Which messages travel through shared memory, and what that memory is like.
struct SharedMemory {
  std::span<const std::uint8_t> reaches{};  ///< By rank of the communicator: 1 if it does; empty: none.
  std::int64_t slot_bytes = 0;              ///< Messages of up to so many travel in slots.
  std::int64_t piece_bytes = 0;             ///< Larger messages than this leave in pieces.
  /// Data that go to several ranks are copied for each of them if that takes no more bytes altogether.
  std::int64_t copied_bytes = 0;
  std::int64_t joined_bytes = 0;  ///< Messages of up to so many are reduced one by one.
  int ring_room = 0;              ///< So many messages of a pair surely have room, if all before have been read.
  /// Messages of at least so many may be read in the memory of their sender, which those in swapped slots are not; 0:
  /// none.
  std::int64_t exposed_bytes = 0;
  int swap_slots = 0;  ///< So many messages (or pieces) of a plan each way may be in swapped slots.
  [[nodiscard]] bool reaches_rank(Rank rank) const {
    return !reaches.empty() && reaches[static_cast<std::size_t>(rank.value())] != 0;
  }
};

struct CompiledPlan {
  Choice choice{};          ///< No algorithm: messages that are part of no collective.
  Problem problem{};        ///< Without its lists, which may be gone.
  bool takes_turns = true;  ///< Runs in the order in which all ranks start it; false: messages between pairs.
  Type type = Type::int8;
  Op op = Op::sum;
  int ranks = 1;                  ///< For avg.
  std::int64_t count = 0;         ///< Elements of the output that hold results of `op`.
  std::int64_t element = 1;       ///< Bytes of one, a power of two.
  int element_shift = 0;          ///< Its logarithm: divisions cost as much as a small message.
  ReduceKernel reduce = nullptr;  ///< nullptr: op.function().
  std::vector<CompiledStep> steps;
  std::vector<int> waits;       ///< Per step: how many steps must have completed before it starts.
  std::vector<int> dependents;  ///< CompiledStep::first_dependent..last_dependent index this.
  std::int64_t scratch_bytes = 0;
  int sends = 0, recvs = 0;
  int groups = 0;                          ///< CompiledStep::group is less.
  std::vector<JointReduction> joints;      ///< CompiledStep::joint indexes this.
  bool uses_mpi = false;                   ///< Whether any message travels over MPI.
  bool uses_network = false;               ///< Whether any message travels on a network.
  bool forwards = false;                   ///< Whether any step has a `forward`.
  ReduceManyKernel reduce_many = nullptr;  ///< nullptr: op.function().
  /// into = lhs (+) rhs, of so many bytes of elements.
  void combine(const void* lhs, const void* rhs, void* into, std::int64_t bytes) const {
    const std::int64_t elements = bytes >> element_shift;
    if (reduce != nullptr)
      reduce(lhs, rhs, into, static_cast<std::size_t>(elements));
    else
      combine_by_user(lhs, rhs, into, Count{elements});
  }
  /// Throws what the user's function throws, and StateError if it called Tutti.
  void combine_by_user(const void* lhs, const void* rhs, void* into, Count count) const;
  /// The same; `also` gets what `into` gets. It may be an operand, if it begins where that does.
  void combine(const void* lhs, const void* rhs, void* into, void* also, std::int64_t bytes) const;
  /// The bytes of a message's pieces but the last: whole elements.
  [[nodiscard]] std::int64_t piece_of(std::int64_t most) const { return most / element * element; }
  /// "allreduce (ring)", for messages.
  [[nodiscard]] std::string name() const;
  /// Starting steps strictly in order delays none: whatever step i waits for, step i + 1 waits for too.
  bool in_order = false;
  /// All messages are short ones through shared memory, few of a pair, sent as early as can be, none is shared or
  /// reduced with others, and no step throws: Execution::run_briefly().
  bool is_brief = false;
};

/// Compiles the schedule of a choice for this problem: cut into segments as the choice says (in bytes), and with
/// receives and reductions joined. O(steps and dependencies), more to find `in_order`.
[[nodiscard]] CompiledPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op,
                                   MessageWindow window, const SharedMemory& memory = {});
/// The same for a schedule that was built elsewhere, as it is.
[[nodiscard]] CompiledPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op,
                                   MessageWindow window, const SharedMemory& memory = {});

}  // namespace tutti
