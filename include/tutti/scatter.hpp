#pragma once
// Scatter: every rank gets a block of the root's elements.

#include <span>

#include "tutti/call.hpp"
#include "tutti/count_list.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call scatter_call(const void* in, void* out, Count count, Type type, Rank root) {
  return {.function = "scatter",
          .collective = Collective::scatter,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .root = root};
}
inline Call scatterv_call(const void* in, const BlockList& blocks, void* out, Count count, Type type, Rank root) {
  return {.function = "scatterv",
          .collective = Collective::scatter,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .root = root,
          .in_blocks = blocks,
          .is_uneven = true};
}
template <class T>
Call scatter_call(std::span<const T> in, std::span<T> out, Rank root, const Communicator& comm) {
  return scatter_call(in.data(), out.data(), root_block_length("scatter", "in", in.size(), out.size(), root, comm),
                      type_of<T>, root);
}
inline Call scatterv_call(const void* in, const CountsAndOffsets& blocks, void* out, Count count, Type type, Rank root,
                          const Communicator& comm) {
  return scatterv_call(in, blocks.checked_at(root, "scatterv", comm), out, count, type, root);
}
template <class T>
Call scatterv_call(std::span<const T> in, const CountsAndOffsets& blocks, std::span<T> out, Rank root,
                   const Communicator& comm) {
  return fitting(scatterv_call(in.data(), blocks, out.data(), Count{out.size()}, type_of<T>, root, comm), in.size(),
                 out.size(), comm);
}
}  // namespace detail

/// out[i] of rank r = in[r * count + i] of the root, for all ranks r and i < count.
///
/// Shapes  `in`: on the root, `count` elements for each rank; not used elsewhere. `out`: `count` elements; on the root
///         it may be the root's block of `in` (in place; MPI_IN_PLACE as `out` works too).
/// Errors  ArgumentError before any message is posted: a null buffer that must hold elements, buffers that overlap
///         partly, a count < 0 or too large to address, a root that is no rank, an unknown algorithm. StateError: the
///         communicator is closed, or MPI is finalized. Error: a message failed, or its size shows that a rank called
///         with other arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
inline void scatter(const void* in, void* out, Count count, Type type, Rank root, const Communicator& comm,
                    const Options& options = {}) {
  detail::run(detail::scatter_call(in, out, count, type, root), comm, options);
}
[[nodiscard]] inline Request scatter_async(const void* in, void* out, Count count, Type type, Rank root,
                                           const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::scatter_call(in, out, count, type, root), comm, options);
}
[[nodiscard]] inline Plan plan_scatter(const void* in, void* out, Count count, Type type, Rank root,
                                       const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scatter_call(in, out, count, type, root), comm, options);
}

/// Takes buffers (tutti/ranges.hpp). `in` is used on the root only, where it is as long as the outputs of all
/// ranks together.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void scatter(In&& in, Out&& out, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::scatter_call(detail::input_of(in), detail::elements_of(out), root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request scatter_async(In&& in, Out&& out, Rank root, const Communicator& comm,
                                    const Options& options = {}) {
  return detail::start(detail::scatter_call(detail::input_of(in), detail::elements_of(out), root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_scatter(In&& in, Out&& out, Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scatter_call(detail::input_of(in), detail::elements_of(out), root, comm), comm,
                         options);
}

/// Blocks of differing sizes: rank r gets `count` elements, which lie at blocks.offsets[r] of the root's `in`, or one
/// after the other if there are no offsets. `blocks` is used on the root only, where counts[r] is the `count` of rank
/// r: a range of integers, {counts, offsets} or a BlockList (tutti/count_list.hpp).
///
/// Errors  As above; also lists that do not have one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
///         Sizes on which two ranks disagree are an error of the program. Within a node, and in messages that go
///         straight from rank to rank, they become an Error. On several nodes, where leaders carry blocks (`explain`
///         then names two_level), some go unnoticed or make ranks wait; the algorithm "linear" reports every one.
inline void scatterv(const void* in, const CountsAndOffsets& blocks, void* out, Count count, Type type, Rank root,
                     const Communicator& comm, const Options& options = {}) {
  detail::run(detail::scatterv_call(in, blocks, out, count, type, root, comm), comm, options);
}
[[nodiscard]] inline Request scatterv_async(const void* in, const CountsAndOffsets& blocks, void* out, Count count,
                                            Type type, Rank root, const Communicator& comm,
                                            const Options& options = {}) {
  return detail::start(detail::scatterv_call(in, blocks, out, count, type, root, comm), comm, options);
}
[[nodiscard]] inline Plan plan_scatterv(const void* in, const CountsAndOffsets& blocks, void* out, Count count,
                                        Type type, Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scatterv_call(in, blocks, out, count, type, root, comm), comm, options);
}

/// Takes buffers; on the root all blocks lie in `in`.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void scatterv(In&& in, const CountsAndOffsets& blocks, Out&& out, Rank root, const Communicator& comm,
              const Options& options = {}) {
  detail::run(detail::scatterv_call(detail::input_of(in), blocks, detail::elements_of(out), root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request scatterv_async(In&& in, const CountsAndOffsets& blocks, Out&& out, Rank root,
                                     const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::scatterv_call(detail::input_of(in), blocks, detail::elements_of(out), root, comm), comm,
                       options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_scatterv(In&& in, const CountsAndOffsets& blocks, Out&& out, Rank root,
                                 const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scatterv_call(detail::input_of(in), blocks, detail::elements_of(out), root, comm),
                         comm, options);
}

}  // namespace tutti
