#pragma once
// Gather: the root gets the elements of all ranks.

#include <span>

#include "tutti/call.hpp"

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
}  // namespace detail

/// On the root, out[r * count + i] = in[i] of rank r, for all ranks r and i < count.
///
/// Shapes  `in`: `count` elements of `type`. `out`: `count` elements of each rank on the root, where `in` may be its
///         own block of `out` (in place; MPI_IN_PLACE as `in` works too); not used elsewhere.
/// Errors  ArgumentError before any message is posted: a null buffer that elements belong to, buffers that overlap
///         partly, a count < 0 or too large to address, a root that is no rank, an unknown algorithm. StateError:
///         communicator closed, or MPI finalized. Error: a message failed, or its size shows that a rank called with
///         other arguments.
/// Cost    of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
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

/// The same on spans; `out` is used on the root only, where it is as long as the inputs of all ranks.
template <class In, class T>
requires detail::SameElement<In, T>
void gather(std::span<In> in, std::span<T> out, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::gather_call(in.data(), out.data(),
                                  detail::root_block_length("gather", "out", out.size(), in.size(), root, comm),
                                  type_of<T>, root),
              comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request gather_async(std::span<In> in, std::span<T> out, Rank root, const Communicator& comm,
                                   const Options& options = {}) {
  return detail::start(
      detail::gather_call(in.data(), out.data(),
                          detail::root_block_length("gather", "out", out.size(), in.size(), root, comm), type_of<T>,
                          root),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_gather(std::span<In> in, std::span<T> out, Rank root, const Communicator& comm,
                               const Options& options = {}) {
  return detail::prepare(
      detail::gather_call(in.data(), out.data(),
                          detail::root_block_length("gather", "out", out.size(), in.size(), root, comm), type_of<T>,
                          root),
      comm, options);
}

/// Blocks of differing sizes: a rank gives `count` elements, which the root gets at blocks.offsets[r] of `out`, or
/// one after the other if there are no offsets. `blocks` is used on the root only, where counts[r] is what rank r
/// gives.
///
/// Errors  as above; also lists that have not one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
///         Sizes on which two ranks do not agree are an error of the program: within a node, and straight
///         between ranks, they become an Error; on several nodes, where leaders carry blocks (`explain` says so:
///         two_level), some go unnoticed or make ranks wait. "linear" as algorithm names every one.
inline void gatherv(const void* in, Count count, void* out, const BlockList& blocks, Type type, Rank root,
                    const Communicator& comm, const Options& options = {}) {
  detail::run(detail::gatherv_call(in, count, out, blocks, type, root), comm, options);
}
[[nodiscard]] inline Request gatherv_async(const void* in, Count count, void* out, const BlockList& blocks, Type type,
                                           Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::gatherv_call(in, count, out, blocks, type, root), comm, options);
}
[[nodiscard]] inline Plan plan_gatherv(const void* in, Count count, void* out, const BlockList& blocks, Type type,
                                       Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::gatherv_call(in, count, out, blocks, type, root), comm, options);
}

/// The same on spans; on the root all blocks lie in `out`.
template <class In, class T>
requires detail::SameElement<In, T>
void gatherv(std::span<In> in, std::span<T> out, const BlockList& blocks, Rank root, const Communicator& comm,
             const Options& options = {}) {
  detail::run(detail::fitting(detail::gatherv_call(in.data(), Count{in.size()}, out.data(), blocks, type_of<T>, root),
                              in.size(), out.size(), comm),
              comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request gatherv_async(std::span<In> in, std::span<T> out, const BlockList& blocks, Rank root,
                                    const Communicator& comm, const Options& options = {}) {
  return detail::start(
      detail::fitting(detail::gatherv_call(in.data(), Count{in.size()}, out.data(), blocks, type_of<T>, root),
                      in.size(), out.size(), comm),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_gatherv(std::span<In> in, std::span<T> out, const BlockList& blocks, Rank root,
                                const Communicator& comm, const Options& options = {}) {
  return detail::prepare(
      detail::fitting(detail::gatherv_call(in.data(), Count{in.size()}, out.data(), blocks, type_of<T>, root),
                      in.size(), out.size(), comm),
      comm, options);
}

}  // namespace tutti
