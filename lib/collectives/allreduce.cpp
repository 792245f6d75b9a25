#include "tutti/allreduce.hpp"

#include <fmt/format.h>

#include <new>

#include "lib/collectives/arguments.hpp"
#include "lib/collectives/selection.hpp"
#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/operation.hpp"

namespace tutti {
namespace {

const Algorithm& choose(const CallSite& call, Bytes bytes, const Op& op, const Options& options,
                        const detail::CommunicatorState& state) {
  if (options.algorithm.empty()) return select_allreduce(bytes, state.size(), op, state.settings());
  const Algorithm* const wanted = find_algorithm(Collective::allreduce, options.algorithm);
  if (wanted == nullptr)
    refuse(call, "algorithm", fmt::format("'{}'", options.algorithm), algorithm_names(Collective::allreduce));
  if (!op.commutative() && wanted->order != Order::of_ranks)
    refuse(call, "algorithm", fmt::format("'{}' with an operation that is not commutative", options.algorithm),
           algorithm_names(Collective::allreduce, Order::of_ranks));
  return *wanted;
}

/// Checks the arguments and binds them to an operation that is ready to start.
detail::Operation& prepare(const void* in, void* out, Count count, Type type, const Op& op,
                           detail::CommunicatorState& state, const Options& options) {
  const CallSite call{"allreduce", state.rank()};
  state.require_working();
  if (in == MPI_IN_PLACE) in = out;
  require_count(call, count, type);
  require_operation(call, op, type);
  require_buffer(call, "in", in, count);
  require_buffer(call, "out", out, count);
  const Bytes bytes = count.value() * size_of(type);
  const Aliasing aliasing = aliasing_of(call, in, out, bytes);
  const Algorithm& algorithm = choose(call, bytes, op, options, state);
  try {
    detail::Operation& operation =
        state.plan({.algorithm = &algorithm, .count = count, .aliasing = aliasing, .type = type, .op = op})
            .acquire(state);
    operation.bind(in, out);
    return operation;
  } catch (const std::bad_alloc&) {
    refuse(call, "count", fmt::format("{}, for which there is no memory for scratch", count.value()),
           "what leaves memory for scratch (algorithms/README.md), or an algorithm that needs less");
  }
}

detail::OwnedOperation owned(detail::Operation& operation, const Communicator& comm) {
  operation.keep_alive = comm.share();
  return detail::OwnedOperation{&operation};
}

}  // namespace

void allreduce(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
               const Options& options) {
  detail::CommunicatorState& state = comm.state();
  detail::Progress::Entry entry{state.progress()};
  detail::Operation& operation = prepare(in, out, count, type, op, state, options);
  operation.start();
  state.progress().wait(operation, entry);
  operation.plan().release(operation);
  operation.rethrow();
}

Request allreduce_async(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
                        const Options& options) {
  detail::CommunicatorState& state = comm.state();
  const detail::Progress::Entry entry{state.progress()};
  detail::Operation& operation = prepare(in, out, count, type, op, state, options);
  operation.start();
  return Request{owned(operation, comm)};
}

Plan plan_allreduce(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
                    const Options& options) {
  detail::CommunicatorState& state = comm.state();
  const detail::Progress::Entry entry{state.progress()};
  return Plan{owned(prepare(in, out, count, type, op, state, options), comm)};
}

Count detail::same_length(std::size_t in, std::size_t out, const Communicator& comm) {
  if (in != out)
    refuse({"allreduce", comm.rank()}, "out", fmt::format("a span of {} elements", out),
           fmt::format("as many as 'in', {}", in));
  return Count{in};
}

}  // namespace tutti
