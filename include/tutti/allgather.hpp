#pragma once
// Allgather: every rank gets the elements of all ranks.

#include <span>

#include "tutti/call.hpp"
#include "tutti/count_list.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call allgather_call(const void* in, void* out, Count count, Type type) {
  return {
      .function = "allgather", .collective = Collective::allgather, .in = in, .out = out, .count = count, .type = type};
}
inline Call allgatherv_call(const void* in, void* out, const BlockList& blocks, Type type) {
  return {.function = "allgatherv",
          .collective = Collective::allgather,
          .in = in,
          .out = out,
          .type = type,
          .out_blocks = blocks,
          .is_uneven = true};
}
template <class T>
Call allgather_call(std::span<const T> in, std::span<T> out, const Communicator& comm) {
  return allgather_call(in.data(), out.data(), block_length("allgather", "out", out.size(), in.size(), comm),
                        type_of<T>);
}
template <class T>
Call allgather_call(std::span<T> data, const Communicator& comm) {
  return allgather_call(MPI_IN_PLACE, data.data(), divided("allgather", "data", Count{data.size()}, comm), type_of<T>);
}
inline Call allgatherv_call(const void* in, void* out, const CountsAndOffsets& blocks, Type type,
                            const Communicator& comm) {
  return allgatherv_call(in, out, blocks.checked("allgatherv", "blocks", comm), type);
}
template <class T>
Call allgatherv_call(std::span<const T> in, std::span<T> out, const CountsAndOffsets& blocks,
                     const Communicator& comm) {
  return fitting(allgatherv_call(in.data(), out.data(), blocks, type_of<T>, comm), in.size(), out.size(), comm);
}
}  // namespace detail

/// out[r * count + i] = in[i] of rank r, for all ranks r and i < count.
///
/// Shapes  `in`: `count` elements of `type`; `out`: `count` elements of each rank. They are separate, or `in` is this
///         rank's block of `out` (in place; MPI_IN_PLACE as `in` works too).
/// Errors  ArgumentError before any message is posted: a null buffer that must hold elements, buffers that overlap
///         partly, a count < 0 or too large to address, an unknown algorithm. StateError: the communicator is closed,
///         or MPI is finalized. Error: a message failed, or its size shows that a rank called with other arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
inline void allgather(const void* in, void* out, Count count, Type type, const Communicator& comm,
                      const Options& options = {}) {
  detail::run(detail::allgather_call(in, out, count, type), comm, options);
}
[[nodiscard]] inline Request allgather_async(const void* in, void* out, Count count, Type type,
                                             const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allgather_call(in, out, count, type), comm, options);
}
[[nodiscard]] inline Plan plan_allgather(const void* in, void* out, Count count, Type type, const Communicator& comm,
                                         const Options& options = {}) {
  return detail::prepare(detail::allgather_call(in, out, count, type), comm, options);
}

/// Takes buffers (tutti/ranges.hpp): `out` is as long as the inputs of all ranks together.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void allgather(In&& in, Out&& out, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::allgather_call(detail::input_of(in), detail::elements_of(out), comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request allgather_async(In&& in, Out&& out, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allgather_call(detail::input_of(in), detail::elements_of(out), comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_allgather(In&& in, Out&& out, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allgather_call(detail::input_of(in), detail::elements_of(out), comm), comm, options);
}

/// In place: one buffer, which already holds this rank's block.
template <OutputBuffer Data>
void allgather(Data&& data, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::allgather_call(detail::elements_of(data), comm), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Request allgather_async(Data&& data, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allgather_call(detail::elements_of(data), comm), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_allgather(Data&& data, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allgather_call(detail::elements_of(data), comm), comm, options);
}

/// Blocks of differing sizes: rank r gives blocks.counts[r] elements, which every rank gets at blocks.offsets[r] of
/// `out`. Without offsets the blocks lie one after the other. Counts are the same on all ranks; offsets need not be.
/// `blocks` is a range of integers, {counts, offsets} or a BlockList (tutti/count_list.hpp).
///
/// Errors  As above; also lists that do not have one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
inline void allgatherv(const void* in, void* out, const CountsAndOffsets& blocks, Type type, const Communicator& comm,
                       const Options& options = {}) {
  detail::run(detail::allgatherv_call(in, out, blocks, type, comm), comm, options);
}
[[nodiscard]] inline Request allgatherv_async(const void* in, void* out, const CountsAndOffsets& blocks, Type type,
                                              const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allgatherv_call(in, out, blocks, type, comm), comm, options);
}
[[nodiscard]] inline Plan plan_allgatherv(const void* in, void* out, const CountsAndOffsets& blocks, Type type,
                                          const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allgatherv_call(in, out, blocks, type, comm), comm, options);
}

/// Takes buffers: `in` has this rank's count, and all blocks lie in `out`.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void allgatherv(In&& in, Out&& out, const CountsAndOffsets& blocks, const Communicator& comm,
                const Options& options = {}) {
  detail::run(detail::allgatherv_call(detail::input_of(in), detail::elements_of(out), blocks, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request allgatherv_async(In&& in, Out&& out, const CountsAndOffsets& blocks, const Communicator& comm,
                                       const Options& options = {}) {
  return detail::start(detail::allgatherv_call(detail::input_of(in), detail::elements_of(out), blocks, comm), comm,
                       options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_allgatherv(In&& in, Out&& out, const CountsAndOffsets& blocks, const Communicator& comm,
                                   const Options& options = {}) {
  return detail::prepare(detail::allgatherv_call(detail::input_of(in), detail::elements_of(out), blocks, comm), comm,
                         options);
}

}  // namespace tutti
