#pragma once
// Allgather: every rank gets the elements of all ranks.

#include <span>

#include "tutti/call.hpp"

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
}  // namespace detail

/// out[r * count + i] = in[i] of rank r, for all ranks r and i < count.
///
/// Shapes  `in`: `count` elements of `type`; `out`: `count` elements of each rank. Separate, or `in` is this rank's
///         block of `out` (in place; MPI_IN_PLACE as `in` works too).
/// Errors  ArgumentError before any message is posted: a null buffer that elements belong to, buffers that overlap
///         partly, a count < 0 or too large to address, an unknown algorithm. StateError: communicator closed, or MPI
///         finalized. Error: a message failed, or its size shows that a rank called with other arguments.
/// Cost    of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
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

/// The same on spans: `out` is as long as the inputs of all ranks.
template <class In, class T>
requires detail::SameElement<In, T>
void allgather(std::span<In> in, std::span<T> out, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::allgather_call(in.data(), out.data(),
                                     detail::block_length("allgather", "out", out.size(), in.size(), comm), type_of<T>),
              comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request allgather_async(std::span<In> in, std::span<T> out, const Communicator& comm,
                                      const Options& options = {}) {
  return detail::start(
      detail::allgather_call(in.data(), out.data(),
                             detail::block_length("allgather", "out", out.size(), in.size(), comm), type_of<T>),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_allgather(std::span<In> in, std::span<T> out, const Communicator& comm,
                                  const Options& options = {}) {
  return detail::prepare(
      detail::allgather_call(in.data(), out.data(),
                             detail::block_length("allgather", "out", out.size(), in.size(), comm), type_of<T>),
      comm, options);
}

/// In place: one span, which holds this rank's block already.
template <Element T>
void allgather(std::span<T> data, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::allgather_call(MPI_IN_PLACE, data.data(),
                                     detail::divided("allgather", "data", Count{data.size()}, comm), type_of<T>),
              comm, options);
}
template <Element T>
[[nodiscard]] Request allgather_async(std::span<T> data, const Communicator& comm, const Options& options = {}) {
  return detail::start(
      detail::allgather_call(MPI_IN_PLACE, data.data(), detail::divided("allgather", "data", Count{data.size()}, comm),
                             type_of<T>),
      comm, options);
}
template <Element T>
[[nodiscard]] Plan plan_allgather(std::span<T> data, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(
      detail::allgather_call(MPI_IN_PLACE, data.data(), detail::divided("allgather", "data", Count{data.size()}, comm),
                             type_of<T>),
      comm, options);
}

/// Blocks of differing sizes: rank r gives blocks.counts[r] elements, which every rank gets at blocks.offsets[r] of
/// `out`, or one after the other if there are no offsets. Counts are the same on all ranks, offsets need not be.
///
/// Errors  as above; also lists that have not one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
inline void allgatherv(const void* in, void* out, const BlockList& blocks, Type type, const Communicator& comm,
                       const Options& options = {}) {
  detail::run(detail::allgatherv_call(in, out, blocks, type), comm, options);
}
[[nodiscard]] inline Request allgatherv_async(const void* in, void* out, const BlockList& blocks, Type type,
                                              const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allgatherv_call(in, out, blocks, type), comm, options);
}
[[nodiscard]] inline Plan plan_allgatherv(const void* in, void* out, const BlockList& blocks, Type type,
                                          const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allgatherv_call(in, out, blocks, type), comm, options);
}

/// The same on spans: `in` has this rank's count, and all blocks lie in `out`.
template <class In, class T>
requires detail::SameElement<In, T>
void allgatherv(std::span<In> in, std::span<T> out, const BlockList& blocks, const Communicator& comm,
                const Options& options = {}) {
  detail::run(
      detail::fitting(detail::allgatherv_call(in.data(), out.data(), blocks, type_of<T>), in.size(), out.size(), comm),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request allgatherv_async(std::span<In> in, std::span<T> out, const BlockList& blocks,
                                       const Communicator& comm, const Options& options = {}) {
  return detail::start(
      detail::fitting(detail::allgatherv_call(in.data(), out.data(), blocks, type_of<T>), in.size(), out.size(), comm),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_allgatherv(std::span<In> in, std::span<T> out, const BlockList& blocks,
                                   const Communicator& comm, const Options& options = {}) {
  return detail::prepare(
      detail::fitting(detail::allgatherv_call(in.data(), out.data(), blocks, type_of<T>), in.size(), out.size(), comm),
      comm, options);
}

}  // namespace tutti
