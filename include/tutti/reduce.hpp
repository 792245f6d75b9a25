#pragma once
// Reduce: the root gets the combination of the elements of all ranks.

#include <span>

#include "tutti/call.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call reduce_call(const void* in, void* out, Count count, Type type, const Op& op, Rank root) {
  return {.function = "reduce",
          .collective = Collective::reduce,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .op = op,
          .root = root};
}
template <class T>
Call reduce_call(std::span<const T> in, std::span<T> out, const Op& op, Rank root, const Communicator& comm) {
  return reduce_call(in.data(), out.data(), root_length("reduce", "out", out.size(), in.size(), root, comm), type_of<T>,
                     op, root);
}
template <class T>
Call reduce_call(std::span<T> data, const Op& op, Rank root) {
  return reduce_call(data.data(), data.data(), Count{data.size()}, type_of<T>, op, root);
}
}  // namespace detail

/// On the root, out[i] = in[i] of rank 0 (+) in[i] of rank 1 (+) ..., for i < count.
///
/// Shapes  `in`: `count` elements of `type`. `out`: on the root as many, separate or the same (in place; MPI_IN_PLACE
///         as `in` works too); not used elsewhere.
/// Errors  ArgumentError before any message is posted: a null buffer with count > 0, buffers that overlap partly, a
///         count < 0, too large to address or so large that no memory is left for scratch, an operation that the type
///         does not have, a root that is no rank, an algorithm that is unknown or needs a commutative operation.
///         StateError: the communicator is closed, or MPI is finalized. Error: a message failed, or its size shows that
///         a rank called with other arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same count, type and operation
///         recur.
inline void reduce(const void* in, void* out, Count count, Type type, const Op& op, Rank root, const Communicator& comm,
                   const Options& options = {}) {
  detail::run(detail::reduce_call(in, out, count, type, op, root), comm, options);
}
[[nodiscard]] inline Request reduce_async(const void* in, void* out, Count count, Type type, const Op& op, Rank root,
                                          const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::reduce_call(in, out, count, type, op, root), comm, options);
}
[[nodiscard]] inline Plan plan_reduce(const void* in, void* out, Count count, Type type, const Op& op, Rank root,
                                      const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::reduce_call(in, out, count, type, op, root), comm, options);
}

/// Takes buffers (tutti/ranges.hpp). `out` is used on the root only, where it has the length of `in`.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void reduce(In&& in, Out&& out, const Op& op, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::reduce_call(detail::input_of(in), detail::elements_of(out), op, root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request reduce_async(In&& in, Out&& out, const Op& op, Rank root, const Communicator& comm,
                                   const Options& options = {}) {
  return detail::start(detail::reduce_call(detail::input_of(in), detail::elements_of(out), op, root, comm), comm,
                       options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_reduce(In&& in, Out&& out, const Op& op, Rank root, const Communicator& comm,
                               const Options& options = {}) {
  return detail::prepare(detail::reduce_call(detail::input_of(in), detail::elements_of(out), op, root, comm), comm,
                         options);
}

/// In place: one buffer, which the result replaces on the root; unchanged elsewhere.
template <OutputBuffer Data>
void reduce(Data&& data, const Op& op, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::reduce_call(detail::elements_of(data), op, root), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Request reduce_async(Data&& data, const Op& op, Rank root, const Communicator& comm,
                                   const Options& options = {}) {
  return detail::start(detail::reduce_call(detail::elements_of(data), op, root), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_reduce(Data&& data, const Op& op, Rank root, const Communicator& comm,
                               const Options& options = {}) {
  return detail::prepare(detail::reduce_call(detail::elements_of(data), op, root), comm, options);
}

}  // namespace tutti
