#pragma once
// Alltoall: every rank sends a block to every rank.

#include <span>
#include <string_view>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/count_list.hpp"
#include "tutti/export.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

/// The arguments of alltoallw for each rank: counts in elements of that rank's type, offsets in bytes.
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
template <class T>
Call alltoall_call(std::span<const T> in, std::span<T> out, const Communicator& comm) {
  const Count length = same_length("alltoall", in.size(), out.size(), comm);
  return alltoall_call(in.data(), out.data(), divided("alltoall", "in", length, comm), type_of<T>);
}
template <class T>
Call alltoall_call(std::span<T> data, const Communicator& comm) {
  return alltoall_call(data.data(), data.data(), divided("alltoall", "data", Count{data.size()}, comm), type_of<T>);
}
inline Call alltoallv_call(const void* in, const CountsAndOffsets& in_blocks, void* out,
                           const CountsAndOffsets& out_blocks, Type type, const Communicator& comm) {
  return alltoallv_call(in, in_blocks.checked("alltoallv", "in_blocks", comm), out,
                        out_blocks.checked("alltoallv", "out_blocks", comm), type);
}
template <class T>
Call alltoallv_call(std::span<const T> in, const CountsAndOffsets& in_blocks, std::span<T> out,
                    const CountsAndOffsets& out_blocks, const Communicator& comm) {
  return fitting(alltoallv_call(in.data(), in_blocks, out.data(), out_blocks, type_of<T>, comm), in.size(), out.size(),
                 comm);
}
/// Typed blocks as blocks of bytes.
class ByteBlocks {
 public:
  /// Throws ArgumentError if the lists do not have one entry per rank, or have negative ones.
  TUTTI_API ByteBlocks(std::string_view argument, const TypedBlocks& blocks, const Communicator& comm);
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
/// Errors  ArgumentError before any message is posted: a null buffer that must hold elements, buffers that overlap
///         partly, a count < 0 or too large to address, an unknown algorithm. StateError: the communicator is closed,
///         or MPI is finalized. Error: a message failed, or its size shows that a rank called with other arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same counts and type recur.
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

/// Takes buffers of equal length (tutti/ranges.hpp), which is a multiple of the number of ranks.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void alltoall(In&& in, Out&& out, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoall_call(detail::input_of(in), detail::elements_of(out), comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request alltoall_async(In&& in, Out&& out, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::alltoall_call(detail::input_of(in), detail::elements_of(out), comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_alltoall(In&& in, Out&& out, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::alltoall_call(detail::input_of(in), detail::elements_of(out), comm), comm, options);
}

/// In place: one buffer.
template <OutputBuffer Data>
void alltoall(Data&& data, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoall_call(detail::elements_of(data), comm), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Request alltoall_async(Data&& data, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::alltoall_call(detail::elements_of(data), comm), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_alltoall(Data&& data, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::alltoall_call(detail::elements_of(data), comm), comm, options);
}

/// Blocks of differing sizes: in_blocks.counts[r] elements go to rank r, out_blocks.counts[r] come from it. Each list
/// has its offsets; without them its blocks lie one after the other. In place, both lists are the same (`in_blocks` is
/// ignored if `in` is MPI_IN_PLACE) and any two ranks exchange blocks of one size.
/// Each list is a range of integers, {counts, offsets} or a BlockList (tutti/count_list.hpp).
///
/// Errors  As above; also lists that do not have one entry per rank, negative counts or offsets, blocks that overlap
///         where they are written.
///         Sizes on which two ranks disagree are an error of the program. Within a node, and in messages that go
///         straight from rank to rank, they become an Error. On several nodes, where leaders carry blocks (`explain`
///         then names two_level), some go unnoticed or make ranks wait; the algorithm "linear" reports every one.
inline void alltoallv(const void* in, const CountsAndOffsets& in_blocks, void* out, const CountsAndOffsets& out_blocks,
                      Type type, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoallv_call(in, in_blocks, out, out_blocks, type, comm), comm, options);
}
[[nodiscard]] inline Request alltoallv_async(const void* in, const CountsAndOffsets& in_blocks, void* out,
                                             const CountsAndOffsets& out_blocks, Type type, const Communicator& comm,
                                             const Options& options = {}) {
  return detail::start(detail::alltoallv_call(in, in_blocks, out, out_blocks, type, comm), comm, options);
}
[[nodiscard]] inline Plan plan_alltoallv(const void* in, const CountsAndOffsets& in_blocks, void* out,
                                         const CountsAndOffsets& out_blocks, Type type, const Communicator& comm,
                                         const Options& options = {}) {
  return detail::prepare(detail::alltoallv_call(in, in_blocks, out, out_blocks, type, comm), comm, options);
}

/// Takes buffers; all blocks lie in them.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void alltoallv(In&& in, const CountsAndOffsets& in_blocks, Out&& out, const CountsAndOffsets& out_blocks,
               const Communicator& comm, const Options& options = {}) {
  detail::run(detail::alltoallv_call(detail::input_of(in), in_blocks, detail::elements_of(out), out_blocks, comm), comm,
              options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request alltoallv_async(In&& in, const CountsAndOffsets& in_blocks, Out&& out,
                                      const CountsAndOffsets& out_blocks, const Communicator& comm,
                                      const Options& options = {}) {
  return detail::start(
      detail::alltoallv_call(detail::input_of(in), in_blocks, detail::elements_of(out), out_blocks, comm), comm,
      options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_alltoallv(In&& in, const CountsAndOffsets& in_blocks, Out&& out,
                                  const CountsAndOffsets& out_blocks, const Communicator& comm,
                                  const Options& options = {}) {
  return detail::prepare(
      detail::alltoallv_call(detail::input_of(in), in_blocks, detail::elements_of(out), out_blocks, comm), comm,
      options);
}

/// Blocks that differ in size and type. The block from rank a to rank b has as many bytes as b expects. Allocates for
/// its lists.
///
/// Errors  As above; also lists that do not have one entry per rank, negative counts or offsets, blocks that overlap
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
