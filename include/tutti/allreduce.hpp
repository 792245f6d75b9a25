#pragma once
// Allreduce: every rank gets the combination of the elements of all ranks.

#include <span>

#include "tutti/call.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call allreduce_call(const void* in, void* out, Count count, Type type, const Op& op) {
  return {.function = "allreduce",
          .collective = Collective::allreduce,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .op = op};
}
template <class T>
Call allreduce_call(std::span<const T> in, std::span<T> out, const Op& op, const Communicator& comm) {
  return allreduce_call(in.data(), out.data(), same_length("allreduce", in.size(), out.size(), comm), type_of<T>, op);
}
template <class T>
Call allreduce_call(std::span<T> data, const Op& op) {
  return allreduce_call(data.data(), data.data(), Count{data.size()}, type_of<T>, op);
}
}  // namespace detail

/// out[i] = in[i] of rank 0 (+) in[i] of rank 1 (+) ..., for i < count; the same bits on all ranks.
///
/// Shapes  `in` and `out`: `count` elements of `type`, separate or the same (in place; MPI_IN_PLACE as `in` works
///         too).
/// Errors  ArgumentError before any message is posted: a null buffer with count > 0, buffers that overlap partly, a
///         count < 0, too large to address or so large that no memory is left for scratch, an operation that the type
///         does not have, an algorithm that is unknown or needs a commutative operation. StateError: the communicator
///         is closed, or MPI is finalized. Error: a message failed, or its size shows that a rank called with other
///         arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same count, type and operation
///         recur.
inline void allreduce(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
                      const Options& options = {}) {
  detail::run(detail::allreduce_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Request allreduce_async(const void* in, void* out, Count count, Type type, const Op& op,
                                             const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allreduce_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Plan plan_allreduce(const void* in, void* out, Count count, Type type, const Op& op,
                                         const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allreduce_call(in, out, count, type, op), comm, options);
}

/// Takes buffers of equal length: scalars or contiguous ranges (tutti/ranges.hpp).
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void allreduce(In&& in, Out&& out, const Op& op, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::allreduce_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request allreduce_async(In&& in, Out&& out, const Op& op, const Communicator& comm,
                                      const Options& options = {}) {
  return detail::start(detail::allreduce_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_allreduce(In&& in, Out&& out, const Op& op, const Communicator& comm,
                                  const Options& options = {}) {
  return detail::prepare(detail::allreduce_call(detail::input_of(in), detail::elements_of(out), op, comm), comm,
                         options);
}

/// In place: one buffer.
template <OutputBuffer Data>
void allreduce(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::allreduce_call(detail::elements_of(data), op), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Request allreduce_async(Data&& data, const Op& op, const Communicator& comm,
                                      const Options& options = {}) {
  return detail::start(detail::allreduce_call(detail::elements_of(data), op), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_allreduce(Data&& data, const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allreduce_call(detail::elements_of(data), op), comm, options);
}

}  // namespace tutti
