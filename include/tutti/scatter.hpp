#pragma once
// Scatter: every rank gets a block of the root's elements.

#include <span>

#include "tutti/call.hpp"

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
}  // namespace detail

/// out[i] of rank r = in[r * count + i] of the root, for all ranks r and i < count.
///
/// Shapes  `in`: `count` elements for each rank on the root, not used elsewhere. `out`: `count` elements; on the root
///         it may be its own block of `in` (in place; MPI_IN_PLACE as `out` works too).
/// Errors  ArgumentError before any message is posted: a null buffer that elements belong to, buffers that overlap
///         partly, a count < 0 or too large to address, a root that is no rank, an unknown algorithm. StateError:
///         communicator closed, or MPI finalized. Error: a message failed, or its size shows that a rank called with
///         other arguments.
/// Cost    of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
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

/// The same on spans; `in` is used on the root only, where it is as long as the outputs of all ranks.
template <class In, class T>
requires detail::SameElement<In, T>
void scatter(std::span<In> in, std::span<T> out, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::scatter_call(in.data(), out.data(),
                                   detail::root_block_length("scatter", "in", in.size(), out.size(), root, comm),
                                   type_of<T>, root),
              comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request scatter_async(std::span<In> in, std::span<T> out, Rank root, const Communicator& comm,
                                    const Options& options = {}) {
  return detail::start(
      detail::scatter_call(in.data(), out.data(),
                           detail::root_block_length("scatter", "in", in.size(), out.size(), root, comm), type_of<T>,
                           root),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_scatter(std::span<In> in, std::span<T> out, Rank root, const Communicator& comm,
                                const Options& options = {}) {
  return detail::prepare(
      detail::scatter_call(in.data(), out.data(),
                           detail::root_block_length("scatter", "in", in.size(), out.size(), root, comm), type_of<T>,
                           root),
      comm, options);
}

/// Blocks of differing sizes: rank r gets `count` elements, which lie at blocks.offsets[r] of the root's `in`, or one
/// after the other if there are no offsets. `blocks` is used on the root only, where counts[r] is what rank r gets.
///
/// Errors  as above; also lists that have not one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
///         Sizes on which two ranks do not agree are an error of the program: within a node, and straight
///         between ranks, they become an Error; on several nodes, where leaders carry blocks (`explain` says so:
///         two_level), some go unnoticed or make ranks wait. "linear" as algorithm names every one.
inline void scatterv(const void* in, const BlockList& blocks, void* out, Count count, Type type, Rank root,
                     const Communicator& comm, const Options& options = {}) {
  detail::run(detail::scatterv_call(in, blocks, out, count, type, root), comm, options);
}
[[nodiscard]] inline Request scatterv_async(const void* in, const BlockList& blocks, void* out, Count count, Type type,
                                            Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::scatterv_call(in, blocks, out, count, type, root), comm, options);
}
[[nodiscard]] inline Plan plan_scatterv(const void* in, const BlockList& blocks, void* out, Count count, Type type,
                                        Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::scatterv_call(in, blocks, out, count, type, root), comm, options);
}

/// The same on spans; on the root all blocks lie in `in`.
template <class In, class T>
requires detail::SameElement<In, T>
void scatterv(std::span<In> in, const BlockList& blocks, std::span<T> out, Rank root, const Communicator& comm,
              const Options& options = {}) {
  detail::run(detail::fitting(detail::scatterv_call(in.data(), blocks, out.data(), Count{out.size()}, type_of<T>, root),
                              in.size(), out.size(), comm),
              comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request scatterv_async(std::span<In> in, const BlockList& blocks, std::span<T> out, Rank root,
                                     const Communicator& comm, const Options& options = {}) {
  return detail::start(
      detail::fitting(detail::scatterv_call(in.data(), blocks, out.data(), Count{out.size()}, type_of<T>, root),
                      in.size(), out.size(), comm),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_scatterv(std::span<In> in, const BlockList& blocks, std::span<T> out, Rank root,
                                 const Communicator& comm, const Options& options = {}) {
  return detail::prepare(
      detail::fitting(detail::scatterv_call(in.data(), blocks, out.data(), Count{out.size()}, type_of<T>, root),
                      in.size(), out.size(), comm),
      comm, options);
}

}  // namespace tutti
