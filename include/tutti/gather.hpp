#pragma once
// Gather: the root gets the elements of all ranks.

#include <span>

#include "tutti/call.hpp"
#include "tutti/count_list.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call gather_call(const void* in, void* out, Count count, Type type, Rank root) {
  return {.function = "gather",
          .collective = Collective::gather,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .root = root};
}
inline Call gatherv_call(const void* in, Count count, void* out, const BlockList& blocks, Type type, Rank root) {
  return {.function = "gatherv",
          .collective = Collective::gather,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .root = root,
          .out_blocks = blocks,
          .is_uneven = true};
}
template <class T>
Call gather_call(std::span<const T> in, std::span<T> out, Rank root, const Communicator& comm) {
  return gather_call(in.data(), out.data(), root_block_length("gather", "out", out.size(), in.size(), root, comm),
                     type_of<T>, root);
}
inline Call gatherv_call(const void* in, Count count, void* out, const CountsAndOffsets& blocks, Type type, Rank root,
                         const Communicator& comm) {
  return gatherv_call(in, count, out, blocks.checked_at(root, "gatherv", comm), type, root);
}
template <class T>
Call gatherv_call(std::span<const T> in, std::span<T> out, const CountsAndOffsets& blocks, Rank root,
                  const Communicator& comm) {
  return fitting(gatherv_call(in.data(), Count{in.size()}, out.data(), blocks, type_of<T>, root, comm), in.size(),
                 out.size(), comm);
}
}  // namespace detail

/// On the root, out[r * count + i] = in[i] of rank r, for all ranks r and i < count.
///
/// Shapes  `in`: `count` elements of `type`. `out`: on the root, `count` elements of each rank; not used elsewhere. On
///         the root `in` may be the root's block of `out` (in place; MPI_IN_PLACE as `in` works too).
/// Errors  ArgumentError before any message is posted: a null buffer that must hold elements, buffers that overlap
///         partly, a count < 0 or too large to address, a root that is no rank, an unknown algorithm. StateError: the
///         communicator is closed, or MPI is finalized. Error: a message failed, or its size shows that a rank called
///         with other arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
inline void gather(const void* in, void* out, Count count, Type type, Rank root, const Communicator& comm,
                   const Options& options = {}) {
  detail::run(detail::gather_call(in, out, count, type, root), comm, options);
}
[[nodiscard]] inline Request gather_async(const void* in, void* out, Count count, Type type, Rank root,
                                          const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::gather_call(in, out, count, type, root), comm, options);
}
[[nodiscard]] inline Plan plan_gather(const void* in, void* out, Count count, Type type, Rank root,
                                      const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::gather_call(in, out, count, type, root), comm, options);
}

/// Takes buffers (tutti/ranges.hpp). `out` is used on the root only, where it is as long as the inputs of all
/// ranks together.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void gather(In&& in, Out&& out, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::gather_call(detail::input_of(in), detail::elements_of(out), root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request gather_async(In&& in, Out&& out, Rank root, const Communicator& comm,
                                   const Options& options = {}) {
  return detail::start(detail::gather_call(detail::input_of(in), detail::elements_of(out), root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_gather(In&& in, Out&& out, Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::gather_call(detail::input_of(in), detail::elements_of(out), root, comm), comm,
                         options);
}

/// Blocks of differing sizes: rank r gives `count` elements, which the root gets at blocks.offsets[r] of `out`, or one
/// after the other if there are no offsets. `blocks` is used on the root only, where counts[r] is the `count` of rank
/// r: a range of integers, {counts, offsets} or a BlockList (tutti/count_list.hpp).
///
/// Errors  As above; also lists that do not have one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
///         Sizes on which two ranks disagree are an error of the program. Within a node, and in messages that go
///         straight from rank to rank, they become an Error. On several nodes, where leaders carry blocks (`explain`
///         then names two_level), some go unnoticed or make ranks wait; the algorithm "linear" reports every one.
inline void gatherv(const void* in, Count count, void* out, const CountsAndOffsets& blocks, Type type, Rank root,
                    const Communicator& comm, const Options& options = {}) {
  detail::run(detail::gatherv_call(in, count, out, blocks, type, root, comm), comm, options);
}
[[nodiscard]] inline Request gatherv_async(const void* in, Count count, void* out, const CountsAndOffsets& blocks,
                                           Type type, Rank root, const Communicator& comm,
                                           const Options& options = {}) {
  return detail::start(detail::gatherv_call(in, count, out, blocks, type, root, comm), comm, options);
}
[[nodiscard]] inline Plan plan_gatherv(const void* in, Count count, void* out, const CountsAndOffsets& blocks,
                                       Type type, Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::gatherv_call(in, count, out, blocks, type, root, comm), comm, options);
}

/// Takes buffers; on the root all blocks lie in `out`.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void gatherv(In&& in, Out&& out, const CountsAndOffsets& blocks, Rank root, const Communicator& comm,
             const Options& options = {}) {
  detail::run(detail::gatherv_call(detail::input_of(in), detail::elements_of(out), blocks, root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request gatherv_async(In&& in, Out&& out, const CountsAndOffsets& blocks, Rank root,
                                    const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::gatherv_call(detail::input_of(in), detail::elements_of(out), blocks, root, comm), comm,
                       options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_gatherv(In&& in, Out&& out, const CountsAndOffsets& blocks, Rank root, const Communicator& comm,
                                const Options& options = {}) {
  return detail::prepare(detail::gatherv_call(detail::input_of(in), detail::elements_of(out), blocks, root, comm), comm,
                         options);
}

}  // namespace tutti
