#pragma once
// A schedule made ready to run: flat arrays of steps in bytes, with counters instead of lists of dependencies.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/reduce/kernels.hpp"
#include "lib/schedule/choice.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/op.hpp"

namespace tutti {

/// recv_reduce receives into one operand of the reduction that follows at once.
enum class Verb : std::uint8_t { send, recv, recv_reduce, reduce, copy };

/// `lhs` is what a send or a copy reads; `into` is what a receive, reduction or copy writes. A recv_reduce has the
/// operands and the result of its reduction; the message lands in the operand that `lands_left` says.
struct CompiledStep {
  Verb verb = Verb::copy;
  bool lands_left = false;
  Buffer lhs = Buffer::input, rhs = Buffer::input, into = Buffer::input;
  int peer = 0;     ///< Rank in the communicator.
  int message = 0;  ///< Number on its pair and direction.
  int first_dependent = 0, last_dependent = 0;
  std::int64_t lhs_at = 0, rhs_at = 0, into_at = 0;  ///< Bytes from the start of the buffer.
  std::int64_t bytes = 0;
};

/// How many messages of one pair and direction may be in flight: message m waits for message m - window.
/// Transports rely on it to tell messages apart by a few bits. Any window is safe: schedules are proved for one.
struct MessageWindow {
  int messages = 1;
};

struct CompiledPlan {
  Choice choice{};          ///< No algorithm: messages that are part of no collective.
  Problem problem{};        ///< Without its lists, which may be gone.
  bool takes_turns = true;  ///< Runs in the order in which all ranks start it; false: messages between pairs.
  Type type = Type::int8;
  Op op = Op::sum;
  int ranks = 1;                  ///< For avg.
  std::int64_t count = 0;         ///< Elements of the output that hold results of `op`.
  std::int64_t element = 1;       ///< Bytes of one.
  ReduceKernel reduce = nullptr;  ///< nullptr: op.function().
  std::vector<CompiledStep> steps;
  std::vector<int> waits;       ///< Per step: how many steps must have completed before it starts.
  std::vector<int> dependents;  ///< CompiledStep::first_dependent..last_dependent index this.
  std::int64_t scratch_bytes = 0;
  int sends = 0, recvs = 0;
  /// "allreduce (ring)", for messages.
  [[nodiscard]] std::string name() const;
  /// Starting steps strictly in order delays none: whatever step i waits for, step i + 1 waits for too.
  bool in_order = false;
};

/// Compiles the schedule of a choice for this problem: cut into segments as the choice says (in bytes), and with
/// receives and reductions joined. O(steps and dependencies), more to find `in_order`.
[[nodiscard]] CompiledPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op,
                                   MessageWindow window);
/// The same for a schedule that was built elsewhere, as it is.
[[nodiscard]] CompiledPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op,
                                   MessageWindow window);

}  // namespace tutti
