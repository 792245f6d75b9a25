#include "lib/core/run/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/run/operation.hpp"

namespace tutti::detail {
namespace {

std::string plural(int number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

/// "of 1000 elements of fp32", "of 1000 elements of fp32 a rank"
std::string size_in_words(const PlanKey& key) {
  const Problem& problem = key.problem;
  if (problem.collective == Collective::barrier) return "";
  if (problem.uneven()) return fmt::format(" of blocks of {} that differ in size", to_string(key.type));
  const bool has_blocks =
      problem.collective >= Collective::reduce_scatter && problem.collective <= Collective::alltoall;
  return fmt::format(" of {} elements of {}{}", problem.count.value(), to_string(key.type),
                     has_blocks ? " a rank" : "");
}

std::string cost_in_words(const Choice& choice, const Problem& problem) {
  const Cost cost = cost_of(*choice.algorithm, problem);
  const bool is_exact = has_equal_levels(problem, *choice.algorithm) && choice.algorithm->data == nullptr;
  const std::string_view bound = is_exact ? "" : "at most ";
  const std::string rounds = cost.rounds > 0 || cost.messages == 0 ? plural(cost.rounds, "round") : "rounds not stated";
  return fmt::format("{}{}{}; the busiest rank sends {}{} with {} elements in all, and reduces {}",
                     choice.segment > 0 ? "before messages are cut into segments, " : "", bound, rounds, bound,
                     plural(cost.messages, "message"), cost.sent.value(), cost.reduced.value());
}

/// "; messages go through shared memory and over ucx"
std::string transport_in_words(const CompiledPlan& plan, std::string_view network) {
  const bool shares = plan.uses(Transport::shm) || plan.uses(Transport::ipc);
  const bool goes_far = plan.uses(Transport::mpi) || plan.uses(Transport::network);
  if (!shares && !goes_far) return "";
  const std::string far = goes_far ? fmt::format("over {}", plan.uses(Transport::mpi) ? "MPI" : network) : "";
  return fmt::format("; messages go {}{}{}", shares ? "through shared memory" : "", shares && goes_far ? " and " : "",
                     far);
}

/// "; peers take data of devices where they are (CUDA IPC); 8000 bytes of messages over MPI are staged"
std::string direct_in_words(const CompiledPlan& plan) {
  std::string text = plan.uses(Transport::ipc) ? "; peers take data of devices where they are (CUDA IPC)" : "";
  const bool goes_far = plan.uses(Transport::mpi) || plan.uses(Transport::network);
  const std::string_view carrier = plan.uses(Transport::mpi) ? "the MPI" : "the network";
  if (goes_far && plan.staging.moved == 0) text += fmt::format("; {} takes data of devices", carrier);
  if (plan.staging.moved > 0)
    text += fmt::format("; {} bytes of messages over {} are staged in memory of the host", plan.staging.moved, carrier);
  return text;
}

/// "; device buffers: the host reduces, 8000 bytes are moved between it and the devices (12000 if the device reduced)"
std::string staging_in_words(const CompiledPlan& plan) {
  const Staging& staging = plan.staging;
  if (staging.device < 0) return "";
  if (staging.is_direct) return direct_in_words(plan);
  const bool on_host = staging.worker == Staging::Worker::host;
  std::string text = fmt::format(
      "; device buffers are staged in pinned memory of the host: the {} {}, and {} bytes move "
      "between host and device",
      on_host ? "host" : "device", reduces(plan.problem.collective) ? "reduces" : "copies", staging.moved);
  if (staging.moved_by_other >= 0)
    text += fmt::format(" ({} if the {} did)", staging.moved_by_other, on_host ? "device" : "host");
  else if (plan.op.kind() == Op::Kind::user && plan.op.kernel().handle == nullptr)
    text += ", as the user's operation has no kernel";
  return text;
}

}  // namespace

std::string explain(const Workspace& communicator, const PreparedPlan& prepared, std::string_view why) {
  const PlanKey& key = prepared.key();
  std::string text = fmt::format("{}{} on {} of {}: {}, {}", to_string(key.problem.collective), size_in_words(key),
                                 plural(key.problem.size, "rank"), plural(communicator.members().node_count(), "node"),
                                 to_text(key.choice), why);
  if (prepared.exchanges()) text += "; sizes are exchanged first";
  if (key.choice.algorithm->bits == Bits::differ)
    text += "; ranks may get different bits, as the file says (bits: differ)";
  if (reduces(key.problem.collective) && key.choice.algorithm->bits == Bits::fixed) text += "; in fixed order";
  if (const std::uint8_t adding = prepared.signature().adding; adding != 0)
    text += fmt::format("; operands are added {}", records::adding_names[adding]);
  if (!key.problem.uneven()) text += "; " + cost_in_words(key.choice, key.problem);
  return text;
}

std::string explain(const Operation& operation) {
  const PreparedPlan& prepared = operation.plan();
  const CompiledPlan& plan = prepared.compiled();
  if (plan.choice.algorithm == nullptr)
    return fmt::format("point-to-point: {} and {}, all at once", plural(plan.sends, "send"),
                       plural(plan.recvs, "receive"));
  return explain(operation.communicator(), prepared, operation.why) +
         transport_in_words(plan, operation.communicator().settings().transport.network) +
         staging_in_words(operation.current_plan());
}

}  // namespace tutti::detail
