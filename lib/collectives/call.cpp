#include "tutti/call.hpp"

#include <fmt/format.h>

#include <new>
#include <numeric>
#include <stdexcept>

#include "lib/collectives/arguments.hpp"
#include "lib/collectives/layout.hpp"
#include "lib/collectives/selection.hpp"
#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/operation.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

bool has_blocks(Collective collective) {
  return collective >= Collective::reduce_scatter && collective <= Collective::alltoall;
}

Count sum(std::span<const Count> counts) { return std::accumulate(counts.begin(), counts.end(), Count{0}); }

Question question_of(const Call& call, const Problem& problem, const CommunicatorState& state) {
  // Of uneven blocks, all ranks know the counts only where they are the same on all.
  const Count listed = call.collective == Collective::reduce_scatter ? sum(problem.in.counts)
                       : call.collective == Collective::allgather    ? sum(problem.out.counts)
                                                                     : Count{0};
  const Count elements = call.is_uneven ? listed : (has_blocks(call.collective) ? problem.size : 1) * problem.count;
  return {.collective = call.collective,
          .ranks = problem.size,
          .nodes = state.node_count(),
          .bytes = elements.value() * size_of(call.type),
          .is_uneven = call.is_uneven,
          .is_commutative = call.op.commutative()};
}

/// What the call names.
Selection named(const CallSite& site, const Call& call, std::string_view algorithm) {
  try {
    const Choice choice = read_choice(call.collective, algorithm);
    if (reduces(call.collective) && !call.op.commutative() && choice.algorithm->order != Order::of_ranks)
      refuse(site, "algorithm", fmt::format("'{}' with an operation that is not commutative", algorithm),
             algorithm_names(call.collective, Order::of_ranks));
    return {choice, "as the call says"};
  } catch (const std::invalid_argument& error) {
    refuse(site, "algorithm", fmt::format("'{}' ({})", algorithm, error.what()), algorithm_names(call.collective));
  }
}

/// Checks the arguments and binds them to an operation that is ready to start.
Operation& ready(Call call, CommunicatorState& state, const Options& options) {
  const CallSite site{call.function, state.rank()};
  state.require_working();
  PlanKey key{.type = call.type, .op = call.op};
  key.problem = problem_of(site, call, state.size());
  const Selection selection = options.algorithm.empty()
                                  ? select(question_of(call, key.problem, state), state.settings())
                                  : named(site, call, options.algorithm);
  key.choice = selection.choice;
  key.problem.parameter = selection.choice.parameter;
  try {
    Operation& operation = state.plan(key, [&] { require_disjoint_blocks(site, key.problem); }).acquire(state);
    operation.bind(call.in, call.out);
    operation.why = selection.why;
    return operation;
  } catch (const std::bad_alloc&) {
    refuse(site, "count", fmt::format("{}, for which there is no memory for scratch", call.count.value()),
           "what leaves memory for scratch (algorithms/README.md), or an algorithm that needs less");
  }
}

OwnedOperation owned(Operation& operation, const Communicator& comm) {
  operation.keep_alive = comm.share();
  return OwnedOperation{&operation};
}

}  // namespace

void run(const Call& call, const Communicator& comm, const Options& options) {
  CommunicatorState& state = comm.state();
  Progress::Entry entry{state.progress()};
  Operation& operation = ready(call, state, options);
  operation.start();
  state.progress().wait(operation, entry);
  operation.plan().release(operation);
  operation.rethrow();
}

Request start(const Call& call, const Communicator& comm, const Options& options) {
  CommunicatorState& state = comm.state();
  const Progress::Entry entry{state.progress()};
  Operation& operation = ready(call, state, options);
  operation.start();
  return Request{owned(operation, comm)};
}

Plan prepare(const Call& call, const Communicator& comm, const Options& options) {
  CommunicatorState& state = comm.state();
  const Progress::Entry entry{state.progress()};
  return Plan{owned(ready(call, state, options), comm)};
}

}  // namespace tutti::detail
