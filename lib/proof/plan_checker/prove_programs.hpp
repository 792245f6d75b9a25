#pragma once
// The proof that the programs of all ranks, which run in streams, do what their plans do.

#include <string>
#include <string_view>
#include <vector>

#include "lib/device/stream/program.hpp"
#include "lib/proof/plan_checker/plans.hpp"

namespace tutti::checker {

/// The programs of all ranks. The plans must not be staged. Throws Error as program_of().
[[nodiscard]] std::vector<stream::Program> programs_of(const Plans& plans);
/// The programs of ranks that reach the buffers of their peers.
[[nodiscard]] std::vector<stream::Program> direct_programs_of(const Plans& plans);

/// Runs the programs of all ranks beside the plans, which must be proved. Of the programs before only the flags say
/// that they are over: their messages may still be read. Proved, with an empty text, if
/// - every command starts at some time: no rank waits for ever;
/// - flags alone order any two accesses of different ranks to the same element of a landing area or a buffer, of which
///   one is a write, and any two writes of a flag;
/// - peers use a buffer only after its owner's work before the program, and before its work behind it;
/// - no command writes an element before it may have read it;
/// - at the end every output holds the expressions of the plan, and every flag is 0.
/// A wait counts as ordered after the earliest write that can have ended it, so that one run stands for all orders in
/// which streams may go on. Near-linear in commands and elements.
[[nodiscard]] std::string fault_of(const Plans& plans, const std::vector<stream::Program>& programs);

/// Programs with one fault each.
enum class ProgramMutation : std::uint8_t {
  wait_dropped,      ///< A kernel or copy no longer waits for its message, or the first write of a rank for room.
  wait_moved,        ///< It waits for the message before.
  write_dropped,     ///< A receiver is not told, or a sender never gets room again.
  told_too_early,    ///< A flag is written before the message.
  place_moved,       ///< A message is written, or read, an element further on.
  operand_dropped,   ///< A kernel reads one operand less.
  pulled_too_early,  ///< A peer's buffer is read before the peer is known to be in its program.
  pushed_too_early,  ///< A peer's buffer is written, too, before the peer is known to be in its program.
  readers_left,      ///< A rank does not wait for those that read its buffers.
};
inline constexpr int program_mutation_count = 9;
[[nodiscard]] std::string_view to_string(ProgramMutation mutation);

struct ProgramMutant {
  ProgramMutation mutation{};
  int command = 0;
  stream::Program program{};
};
/// Every fault of these kinds in a program, each certain to be one.
[[nodiscard]] std::vector<ProgramMutant> mutants_of(const stream::Program& program);

}  // namespace tutti::checker
