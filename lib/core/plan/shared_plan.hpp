#pragma once
// The additions of shared memory to a compiled plan: found once, when the plan is made (compile.hpp).

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/core/plan/compiled_plan.hpp"
#include "lib/core/transport/shm/tuning.hpp"

namespace tutti::shm {

/// The ranks that shared memory reaches, and the sizes that decide how messages travel through it.
struct SharedMemory {
  std::span<const std::uint8_t> reaches{};  ///< By rank of the communicator: 1 if it does; empty: none.
  std::int64_t cell_bytes = 0;              ///< Messages of up to so many travel in eager cells.
  std::int64_t piece_bytes = 0;             ///< Larger messages than this leave in pieces.
  /// Data that go to several ranks are copied for each of them if that takes no more bytes altogether.
  std::int64_t copied_bytes = 0;
  std::int64_t joined_bytes = 0;                          ///< Messages of up to so many are reduced one by one.
  std::int64_t fast_path_bytes = tuning.fast_path_bytes;  ///< Plans whose messages are no longer run on the fast path.
  bool is_for_device = false;  ///< The plan's data are on a device, where every pass over them costs a launch.
  int eager_messages = 0;      ///< So many messages of a pair surely have a cell, if all before have been read.
};

/// An entry of the side table: the additions of shared memory to a step. CompiledStep::side is its index.
struct SideStep {
  int group = -1;           ///< Of a send: the sends of the same data to other ranks; -1: alone.
  bool makes_room = false;  ///< Of a send: a reduction waits for its data to be out of the way.
  int forward = -1;         ///< Of a recv_reduce: the step that sends its result, and waits for nothing else; -1: none.
  int joint = -1;           ///< The joint reduction that this receive or reduction is part of; -1: none.
  /// Of a send: number of the message back whose data may be written to `answer_into` as soon as this one's have been
  /// read; -1: none.
  int answer = -1;
  Buffer answer_into = Buffer::input;
  std::int64_t answer_at = 0;
  int result_of = -1;  ///< Of a send by Transport::ipc: the reduction whose result, and nothing else, it waits for and
                       ///< sends; -1: none.
};

/// A chain of reductions whose messages may all be taken at once, in one pass over memory:
/// into = operands[0] (+) operands[1] (+) ..., from left to right. The bits are the same as one by one. Only the next
/// reduction of the chain reads the result of one of them.
struct JointReduction {
  /// The data of a message, or data of this rank.
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

/// A compiled plan with its side table.
struct SharedPlan : CompiledPlan {
  std::vector<SideStep> sides{};
  int groups = 0;                        ///< SideStep::group is less.
  std::vector<JointReduction> joints{};  ///< SideStep::joint indexes this.
  bool forwards = false;                 ///< Whether any step has a `forward`.
  /// It may run on the fast path: all sends are over as soon as they are made, none is shared or reduced with others,
  /// and no step throws (Execution::run_fast_path()).
  bool takes_fast_path = false;

  /// The additions of shared memory to a step; none, if it has no place in the table.
  [[nodiscard]] const SideStep& side(const CompiledStep& step) const {
    static constexpr SideStep nothing{};
    return step.side < 0 ? nothing : sides[static_cast<std::size_t>(step.side)];
  }
  [[nodiscard]] const SideStep& side(int step) const { return side(steps[static_cast<std::size_t>(step)]); }
  /// To be changed; gives the step a place in the table if it has none.
  [[nodiscard]] SideStep& side(CompiledStep& step) {
    if (step.side < 0) {
      step.side = static_cast<int>(sides.size());
      sides.emplace_back();
    }
    return sides[static_cast<std::size_t>(step.side)];
  }
  [[nodiscard]] SideStep& side(int step) { return side(steps[static_cast<std::size_t>(step)]); }
};

}  // namespace tutti::shm
