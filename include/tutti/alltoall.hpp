#pragma once
// Alltoall: every rank sends a block to every rank.

#include <span>
#include <string_view>
#include <vector>

#include "tutti/call.hpp"

namespace tutti {

/// What alltoallw takes for each rank: counts in elements of that rank's type, offsets in bytes.
struct TypedBlocks {
  std::span<const Count> counts;
  std::span<const Bytes> offsets;
  std::span<const Type> types;
};

namespace detail {
inline Call alltoall_call(const void* in, void* out, Count count, Type type) {
  return {
      .function = "alltoall", .collective = Collective::alltoall, .in = in, .out = out, .count = count, .type = type};
}
inline Call alltoallv_call(const void* in, const BlockList& in_blocks, void* out, const BlockList& out_blocks,
                           Type type) {
  return {.function = "alltoallv",
          .collective = Collective::alltoall,
          .in = in,
          .out = out,
          .type = type,
          .in_blocks = in_blocks,
          .out_blocks = out_blocks,
          .is_uneven = true};
}
/// Typed blocks as blocks of bytes.
class ByteBlocks {
 public:
  /// Throws ArgumentError if the lists have not one entry per rank, or negative ones.
  ByteBlocks(std::string_view argument, const TypedBlocks& blocks, const Communicator& comm);
  [[nodiscard]] BlockList list() const { return {counts_, offsets_}; }

 private:
  std::vector<Count> counts_, offsets_;
};
inline Call alltoallw_call(const void* in, const ByteBlocks& in_blocks, void* out, const ByteBlocks& out_blocks) {
  Call call = alltoallv_call(in, in_blocks.list(), out, out_blocks.list(), Type::uint8);
  call.function = "alltoallw";
  return call;
}
}  // namespace detail

/// out[r * count + i] = in[own rank * count + i] of rank r, for all ranks r and i < count.
///
/// Shapes  `in` and `out`: `count` elements of `type` for each rank; separate or the same (in place; MPI_IN_PLACE as
///         `in` works too).
/// Errors  ArgumentError before any message is posted: a null buffer that elements belong to, buffers that overlap
///         partly, a count < 0 or too large to address, an unknown algorithm. StateError: communicator closed, or MPI
///         finalized. Error: a message failed, or its size shows that a rank called with other arguments.
/// Cost    of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
inline void alltoall(const void* in, void* out, Count count, Type type, const Communicator& comm,
                     const Options& options = {}) {
  detail::run(detail::alltoall_call(in, out, count, type), comm, options);
}
[[nodiscard]] inline Request alltoall_async(const void* in, void* out, Count count, Type type, const Communicator& comm,
                                            const Options& options = {}) {
  return detail::start(detail::alltoall_call(in, out, count, type), comm, options);
}
[[nodiscard]] inline Plan plan_alltoall(const void* in, void* out, Count count, Type type, const Communicator& comm,
                                        const Options& options = {}) {
  return detail::prepare(detail::alltoall_call(in, out, count, type), comm, options);
}

/// The same on spans of equal length, a multiple of the number of ranks.
template <class In, class T>
requires detail::SameElement<In, T>
void alltoall(std::span<In> in, std::span<T> out, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoall_call(
                  in.data(), out.data(),
                  detail::divided("alltoall", "in", detail::same_length("alltoall", in.size(), out.size(), comm), comm),
                  type_of<T>),
              comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request alltoall_async(std::span<In> in, std::span<T> out, const Communicator& comm,
                                     const Options& options = {}) {
  return detail::start(
      detail::alltoall_call(
          in.data(), out.data(),
          detail::divided("alltoall", "in", detail::same_length("alltoall", in.size(), out.size(), comm), comm),
          type_of<T>),
      comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_alltoall(std::span<In> in, std::span<T> out, const Communicator& comm,
                                 const Options& options = {}) {
  return detail::prepare(
      detail::alltoall_call(
          in.data(), out.data(),
          detail::divided("alltoall", "in", detail::same_length("alltoall", in.size(), out.size(), comm), comm),
          type_of<T>),
      comm, options);
}

/// In place: one span.
template <Element T>
void alltoall(std::span<T> data, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoall_call(data.data(), data.data(),
                                    detail::divided("alltoall", "data", Count{data.size()}, comm), type_of<T>),
              comm, options);
}
template <Element T>
[[nodiscard]] Request alltoall_async(std::span<T> data, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::alltoall_call(data.data(), data.data(),
                                             detail::divided("alltoall", "data", Count{data.size()}, comm), type_of<T>),
                       comm, options);
}
template <Element T>
[[nodiscard]] Plan plan_alltoall(std::span<T> data, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(
      detail::alltoall_call(data.data(), data.data(), detail::divided("alltoall", "data", Count{data.size()}, comm),
                            type_of<T>),
      comm, options);
}

/// Blocks of differing sizes: in_blocks.counts[r] elements go to rank r, out_blocks.counts[r] come from it; each list
/// has its offsets, or its blocks lie one after the other. In place, both lists are the same (`in_blocks` is not
/// looked at if `in` is MPI_IN_PLACE) and any two ranks exchange blocks of one size.
///
/// Errors  as above; also lists that have not one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
///         Sizes on which two ranks do not agree are an error of the program: within a node, and straight
///         between ranks, they become an Error; on several nodes, where leaders carry blocks (`explain` says so:
///         two_level), some go unnoticed or make ranks wait. "linear" as algorithm names every one.
inline void alltoallv(const void* in, const BlockList& in_blocks, void* out, const BlockList& out_blocks, Type type,
                      const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoallv_call(in, in_blocks, out, out_blocks, type), comm, options);
}
[[nodiscard]] inline Request alltoallv_async(const void* in, const BlockList& in_blocks, void* out,
                                             const BlockList& out_blocks, Type type, const Communicator& comm,
                                             const Options& options = {}) {
  return detail::start(detail::alltoallv_call(in, in_blocks, out, out_blocks, type), comm, options);
}
[[nodiscard]] inline Plan plan_alltoallv(const void* in, const BlockList& in_blocks, void* out,
                                         const BlockList& out_blocks, Type type, const Communicator& comm,
                                         const Options& options = {}) {
  return detail::prepare(detail::alltoallv_call(in, in_blocks, out, out_blocks, type), comm, options);
}

/// The same on spans that all blocks lie in.
template <class In, class T>
requires detail::SameElement<In, T>
void alltoallv(std::span<In> in, const BlockList& in_blocks, std::span<T> out, const BlockList& out_blocks,
               const Communicator& comm, const Options& options = {}) {
  detail::run(detail::fitting(detail::alltoallv_call(in.data(), in_blocks, out.data(), out_blocks, type_of<T>),
                              in.size(), out.size(), comm),
              comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request alltoallv_async(std::span<In> in, const BlockList& in_blocks, std::span<T> out,
                                      const BlockList& out_blocks, const Communicator& comm,
                                      const Options& options = {}) {
  return detail::start(detail::fitting(detail::alltoallv_call(in.data(), in_blocks, out.data(), out_blocks, type_of<T>),
                                       in.size(), out.size(), comm),
                       comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_alltoallv(std::span<In> in, const BlockList& in_blocks, std::span<T> out,
                                  const BlockList& out_blocks, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(
      detail::fitting(detail::alltoallv_call(in.data(), in_blocks, out.data(), out_blocks, type_of<T>), in.size(),
                      out.size(), comm),
      comm, options);
}

/// Blocks that differ in size and type. What rank a sends to rank b has as many bytes as b expects. Allocates for its
/// lists.
///
/// Errors  as above; also lists that have not one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
inline void alltoallw(const void* in, const TypedBlocks& in_blocks, void* out, const TypedBlocks& out_blocks,
                      const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoallw_call(in, {"in_blocks", in_blocks, comm}, out, {"out_blocks", out_blocks, comm}), comm,
              options);
}
[[nodiscard]] inline Request alltoallw_async(const void* in, const TypedBlocks& in_blocks, void* out,
                                             const TypedBlocks& out_blocks, const Communicator& comm,
                                             const Options& options = {}) {
  return detail::start(
      detail::alltoallw_call(in, {"in_blocks", in_blocks, comm}, out, {"out_blocks", out_blocks, comm}), comm, options);
}
[[nodiscard]] inline Plan plan_alltoallw(const void* in, const TypedBlocks& in_blocks, void* out,
                                         const TypedBlocks& out_blocks, const Communicator& comm,
                                         const Options& options = {}) {
  return detail::prepare(
      detail::alltoallw_call(in, {"in_blocks", in_blocks, comm}, out, {"out_blocks", out_blocks, comm}), comm, options);
}

}  // namespace tutti
