#pragma once
// Reduce-scatter: every rank gets a block of the combination of the elements of all ranks.

#include <span>

#include "tutti/call.hpp"
#include "tutti/count_list.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call reduce_scatter_call(const void* in, void* out, Count count, Type type, const Op& op) {
  return {.function = "reduce_scatter",
          .collective = Collective::reduce_scatter,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .op = op};
}
inline Call reduce_scatter_call(const void* in, void* out, std::span<const Count> counts, Type type, const Op& op) {
  return {.function = "reduce_scatter",
          .collective = Collective::reduce_scatter,
          .in = in,
          .out = out,
          .type = type,
          .op = op,
          .in_blocks = {counts, {}},
          .is_uneven = true};
}
template <class T>
Call reduce_scatter_call(std::span<const T> in, std::span<T> out, const Op& op, const Communicator& comm) {
  return reduce_scatter_call(in.data(), out.data(), block_length("reduce_scatter", "in", in.size(), out.size(), comm),
                             type_of<T>, op);
}
inline Call reduce_scatter_call(const void* in, void* out, const CountList& counts, Type type, const Op& op,
                                const Communicator& comm) {
  return reduce_scatter_call(in, out, counts.checked("reduce_scatter", "counts", comm), type, op);
}
template <class T>
Call reduce_scatter_call(std::span<const T> in, std::span<T> out, const CountList& counts, const Op& op,
                         const Communicator& comm) {
  return fitting(reduce_scatter_call(in.data(), out.data(), counts, type_of<T>, op, comm), in.size(), out.size(), comm);
}
}  // namespace detail

/// Every rank gets one block of the combination of all ranks' elements: out[i] of rank r = in[r * count + i] of rank
/// 0 (+) in[r * count + i] of rank 1 (+) ..., for i < count.
///
/// Shapes  `in`: `count` elements for each rank; `out`: `count` elements. They are separate, or have the same address
///         (in place; MPI_IN_PLACE as `in` works too): the result is then at the start of the input, the rest of which
///         is unchanged.
/// Errors  ArgumentError before any message is posted: a null buffer with count > 0, buffers that overlap partly, a
///         count < 0, too large to address or so large that no memory is left for scratch, an operation that the type
///         does not have, an algorithm that is unknown or needs a commutative operation. StateError: the communicator
///         is closed, or MPI is finalized. Error: a message failed, or its size shows that a rank called with other
///         arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same count, type and operation
///         recur.
inline void reduce_scatter(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
                           const Options& options = {}) {
  detail::run(detail::reduce_scatter_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Request reduce_scatter_async(const void* in, void* out, Count count, Type type, const Op& op,
                                                  const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::reduce_scatter_call(in, out, count, type, op), comm, options);
}
[[nodiscard]] inline Plan plan_reduce_scatter(const void* in, void* out, Count count, Type type, const Op& op,
                                              const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::reduce_scatter_call(in, out, count, type, op), comm, options);
}

/// A reduce_scatter with `counts[r]` elements for rank r, the same on all ranks: any range of integers (CountList).
/// Errors  As above; also a number of counts that is not the number of ranks, negative counts.
inline void reduce_scatter(const void* in, void* out, const CountList& counts, Type type, const Op& op,
                           const Communicator& comm, const Options& options = {}) {
  detail::run(detail::reduce_scatter_call(in, out, counts, type, op, comm), comm, options);
}
[[nodiscard]] inline Request reduce_scatter_async(const void* in, void* out, const CountList& counts, Type type,
                                                  const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::reduce_scatter_call(in, out, counts, type, op, comm), comm, options);
}
[[nodiscard]] inline Plan plan_reduce_scatter(const void* in, void* out, const CountList& counts, Type type,
                                              const Op& op, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::reduce_scatter_call(in, out, counts, type, op, comm), comm, options);
}

/// Takes buffers (tutti/ranges.hpp): `in` is as long as the outputs of all ranks together.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void reduce_scatter(In&& in, Out&& out, const Op& op, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::reduce_scatter_call(detail::input_of(in), detail::elements_of(out), op, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request reduce_scatter_async(In&& in, Out&& out, const Op& op, const Communicator& comm,
                                           const Options& options = {}) {
  return detail::start(detail::reduce_scatter_call(detail::input_of(in), detail::elements_of(out), op, comm), comm,
                       options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_reduce_scatter(In&& in, Out&& out, const Op& op, const Communicator& comm,
                                       const Options& options = {}) {
  return detail::prepare(detail::reduce_scatter_call(detail::input_of(in), detail::elements_of(out), op, comm), comm,
                         options);
}

/// Takes buffers and counts: `out` has this rank's count, and all blocks lie in `in`.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void reduce_scatter(In&& in, Out&& out, const CountList& counts, const Op& op, const Communicator& comm,
                    const Options& options = {}) {
  detail::run(detail::reduce_scatter_call(detail::input_of(in), detail::elements_of(out), counts, op, comm), comm,
              options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request reduce_scatter_async(In&& in, Out&& out, const CountList& counts, const Op& op,
                                           const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::reduce_scatter_call(detail::input_of(in), detail::elements_of(out), counts, op, comm),
                       comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_reduce_scatter(In&& in, Out&& out, const CountList& counts, const Op& op,
                                       const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::reduce_scatter_call(detail::input_of(in), detail::elements_of(out), counts, op, comm),
                         comm, options);
}

}  // namespace tutti
