#include "lib/core/call/chosen.hpp"

#include <fmt/format.h>

#include <numeric>
#include <stdexcept>

#include "lib/core/call/arguments.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/selection/selection.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

bool has_blocks(Collective collective) {
  return collective >= Collective::reduce_scatter && collective <= Collective::alltoall;
}

Count sum(std::span<const Count> counts) { return std::accumulate(counts.begin(), counts.end(), Count{0}); }

/// Bytes of the larger buffer, of all ranks together; negative where ranks know only their own blocks.
Bytes bytes_of(const Call& call, const Problem& problem) {
  const auto in_bytes = [&](Count elements) { return elements.value() * size_of(call.type); };
  if (!call.is_uneven) return in_bytes((has_blocks(call.collective) ? problem.size : 1) * problem.count);
  // All ranks know the counts of uneven blocks only where these are the same on all.
  if (call.collective == Collective::reduce_scatter) return in_bytes(sum(problem.in.counts));
  if (call.collective == Collective::allgather) return in_bytes(sum(problem.out.counts));
  return Bytes{-1};
}

/// Whether results depend on the order of operands: what is exact has the same bits in every order, and what is added
/// in a wider type has one order.
bool depends_on_order(const Call& call) {
  const Op::Kind kind = call.op.kind();
  if (!reduces(call.collective) || call.op.accumulate()) return false;  // which adds in the order of ranks
  if (kind == Op::Kind::user) return true;
  const bool rounds =
      kind == Op::Kind::sum || kind == Op::Kind::prod || kind == Op::Kind::avg || kind == Op::Kind::scaled_sum;
  return rounds && !is_integer(call.type) && call.type != Type::boolean;
}

Question question_of(const Call& call, const Problem& problem, const CommunicatorState& state, const Options& options,
                     records::Manner manner) {
  Question question = state.question();
  question.collective = call.collective;
  question.bytes = bytes_of(call, problem);
  question.is_uneven = call.is_uneven;
  question.is_commutative = call.op.commutative() && !call.op.accumulate();
  question.bits = depends_on_order(call) ? options.bits.value_or(question.bits) : Bits::same;
  question.gathers = reduces(call.collective) && (call.op.kind() == Op::Kind::exact_sum || call.op.accumulate());
  question.count = problem.count;
  question.root = call.root;
  if (!state.settings().forms_match) question.manner = manner;
  return question;
}

/// The choice that the call names.
Selection named(const CallSite& site, const Call& call, std::string_view algorithm, const Question& question) {
  const std::span<const int> nodes = question.spread;
  try {
    Choice choice = read_choice(call.collective, algorithm);
    if (is_named_file(*choice.algorithm)) {
      const FiledAlgorithm& file = *question.files->at(choice.algorithm);  // which the call has had read
      if (const std::string why = why_unfit(file, question); !why.empty())
        refuse(site, "algorithm", fmt::format("'{}', and {}", algorithm, why), "an algorithm that serves this call");
      choice = Choice{&file.algorithm()};
    }
    const bool is_wide = call.op.accumulate().has_value();
    if (question.gathers && question.ranks > 2 && !choice.algorithm->gathers)
      refuse(site, "algorithm",
             fmt::format("'{}' with {}, though {}", algorithm, is_wide ? "accumulate" : "exact_sum",
                         choice.algorithm->data != nullptr ? "files do not serve that" : "partial results travel"),
             algorithm_names(call.collective, true));
    if (question.bits == Bits::fixed && choice.algorithm->bits != Bits::fixed)
      refuse(site, "algorithm", fmt::format("'{}', which keeps no fixed order (Bits::fixed)", algorithm),
             algorithm_names(call.collective, Bits::fixed));
    if (reduces(call.collective) && !question.is_commutative && order_on(nodes, *choice.algorithm) != Order::of_ranks)
      refuse(site, "algorithm",
             fmt::format(
                 "'{}' with {}", algorithm,
                 is_wide ? "accumulate, which adds in the order of ranks" : "an operation that is not commutative"),
             algorithm_names(call.collective, Order::of_ranks));
    return {choice, "as the call says", true};
  } catch (const std::invalid_argument& error) {
    refuse(site, "algorithm", fmt::format("'{}' ({})", algorithm, error.what()), algorithm_names(call.collective));
  }
}

}  // namespace

Selection chosen(const Call& call, const Problem& problem, const CommunicatorState& state, const Options& options,
                 records::Manner manner) {
  const Question question = question_of(call, problem, state, options, manner);
  if (options.algorithm.empty()) return select(question, state.settings().algorithms, state.rules());
  return named({call.function, state.rank()}, call, options.algorithm, question);
}

}  // namespace tutti::detail
