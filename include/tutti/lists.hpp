#pragma once
// Collectives of a list of buffers: one call, in which short buffers share their messages.

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/export.hpp"
#include "tutti/ranges.hpp"

namespace tutti {

/// One of the buffers of a list, as the ordinary call takes it: shapes and ways to be in place are the same.
struct ListedBuffer {
  const void* in = nullptr;
  void* out = nullptr;
  Count count{};
};

/// A range of buffers that a call writes, which last as long as it does: spans, or an lvalue of containers.
template <class R>
concept OutputBuffers = std::ranges::input_range<R> && OutputBuffer<std::ranges::range_reference_t<R>> &&
    (std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R> ||
     LastingInputBuffer<std::ranges::range_value_t<R>>);

namespace detail {

/// A call of a list of buffers, before its arguments are checked.
struct ListCall {
  std::string_view function{};
  Collective collective = Collective::allreduce;
  std::span<const ListedBuffer> buffers{};
  Type type = Type::uint8;
  Op op = Op::sum;
  Rank root{};
};
TUTTI_API void run(const ListCall& call, const Communicator& comm, const Options& options);
[[nodiscard]] TUTTI_API Request start(const ListCall& call, const Communicator& comm, const Options& options);
[[nodiscard]] TUTTI_API Plan prepare(const ListCall& call, const Communicator& comm, const Options& options);
/// The share of each rank in a buffer of the list. Throws ArgumentError unless all have the same.
[[nodiscard]] TUTTI_API Count share_of(std::string_view function, std::size_t buffer, Count length,
                                       const Communicator& comm);

inline ListCall allreduce_list_call(std::span<const ListedBuffer> buffers, Type type, const Op& op) {
  return {"allreduce_list", Collective::allreduce, buffers, type, op};
}
inline ListCall broadcast_list_call(std::span<const ListedBuffer> buffers, Type type, Rank root) {
  return {"broadcast_list", Collective::broadcast, buffers, type, Op::sum, root};
}
inline ListCall allgather_list_call(std::span<const ListedBuffer> buffers, Type type) {
  return {"allgather_list", Collective::allgather, buffers, type};
}
inline ListCall reduce_scatter_list_call(std::span<const ListedBuffer> buffers, Type type, const Op& op) {
  return {"reduce_scatter_list", Collective::reduce_scatter, buffers, type, op};
}

template <class R>
inline constexpr Type type_in_list = type_of<element_t<std::ranges::range_reference_t<R>>>;

/// Buffers in place, each whole.
template <class R>
[[nodiscard]] std::vector<ListedBuffer> whole_buffers(R& range) {
  std::vector<ListedBuffer> buffers;
  if constexpr (std::ranges::sized_range<R&>) buffers.reserve(static_cast<std::size_t>(std::ranges::size(range)));
  for (auto&& each : range) {
    const std::span elements = elements_of(each);
    buffers.push_back({elements.data(), elements.data(), Count{elements.size()}});
  }
  return buffers;
}
/// Buffers in place, of a block for each rank; what is read first is the block `first`.
template <class R>
[[nodiscard]] std::vector<ListedBuffer> blocks_in(R& range, std::string_view function, Rank first,
                                                  const Communicator& comm) {
  std::vector<ListedBuffer> buffers;
  for (auto&& each : range) {
    const std::span elements = elements_of(each);
    const Count block = share_of(function, buffers.size(), Count{elements.size()}, comm);
    buffers.push_back({elements.data() + first.value() * block.value(), elements.data(), block});
  }
  return buffers;
}

}  // namespace detail

// What holds for all of them:
//
// Result  That of the ordinary call on each buffer in turn, but for the order in which a reduction combines operands:
//         as ever it depends on the algorithm, which depends on the bytes of a message. Bits::fixed, and Op::exact_sum,
//         give the bits of the ordinary calls.
// Shapes  Each buffer has its own count, and is as in the ordinary call: separate or in place, on the host or on a
//         device. All have one type. Ranks pass as many buffers, with the same counts in the same order. Empty lists
//         and counts of 0 are allowed.
// How     Short buffers are copied into memory of the library, so many together as fill a message well, and move as one
//         call; those that already lie one after the other move as they are. Long buffers move from where they are. All
//         these calls are under way at once, but for blocking ones whose messages all go through shared memory, which
//         are quicker one after the other. Counters: "calls.packed", "calls.packed_buffers".
// Errors  As the ordinary call, before any message is posted; the text has the number of the buffer in the list, from
// 0.
//         ArgumentError also for an output that shares memory with another buffer of the list. Ranks whose lists differ
//         meet with what happens to ordinary calls with other counts: Error or MismatchError, or a report of the hang.
//         If short buffers differ, but not their total, MPI's messages do not tell: TUTTI_CHECK=1 does.
// Stream  With Options::stream each buffer is a call of its own in the stream, and all of them are on one device.
//         ArgumentError in a plan: a graph that captures the blocking call does the same.
// The array of ListedBuffer is not used after the call has returned; the buffers belong to it until it is complete.

/// An allreduce of each buffer.
inline void allreduce_list(std::span<const ListedBuffer> buffers, Type type, const Op& op, const Communicator& comm,
                           const Options& options = {}) {
  detail::run(detail::allreduce_list_call(buffers, type, op), comm, options);
}
[[nodiscard]] inline Request allreduce_list_async(std::span<const ListedBuffer> buffers, Type type, const Op& op,
                                                  const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allreduce_list_call(buffers, type, op), comm, options);
}
[[nodiscard]] inline Plan plan_allreduce_list(std::span<const ListedBuffer> buffers, Type type, const Op& op,
                                              const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allreduce_list_call(buffers, type, op), comm, options);
}

/// A broadcast of each buffer: `in` is read on the root only, `out` written.
inline void broadcast_list(std::span<const ListedBuffer> buffers, Type type, Rank root, const Communicator& comm,
                           const Options& options = {}) {
  detail::run(detail::broadcast_list_call(buffers, type, root), comm, options);
}
[[nodiscard]] inline Request broadcast_list_async(std::span<const ListedBuffer> buffers, Type type, Rank root,
                                                  const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::broadcast_list_call(buffers, type, root), comm, options);
}
[[nodiscard]] inline Plan plan_broadcast_list(std::span<const ListedBuffer> buffers, Type type, Rank root,
                                              const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::broadcast_list_call(buffers, type, root), comm, options);
}

/// An allgather of each buffer; the counts are those of a rank's block.
inline void allgather_list(std::span<const ListedBuffer> buffers, Type type, const Communicator& comm,
                           const Options& options = {}) {
  detail::run(detail::allgather_list_call(buffers, type), comm, options);
}
[[nodiscard]] inline Request allgather_list_async(std::span<const ListedBuffer> buffers, Type type,
                                                  const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::allgather_list_call(buffers, type), comm, options);
}
[[nodiscard]] inline Plan plan_allgather_list(std::span<const ListedBuffer> buffers, Type type,
                                              const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::allgather_list_call(buffers, type), comm, options);
}

/// A reduce_scatter of each buffer; the counts are those of a rank's block.
inline void reduce_scatter_list(std::span<const ListedBuffer> buffers, Type type, const Op& op,
                                const Communicator& comm, const Options& options = {}) {
  detail::run(detail::reduce_scatter_list_call(buffers, type, op), comm, options);
}
[[nodiscard]] inline Request reduce_scatter_list_async(std::span<const ListedBuffer> buffers, Type type, const Op& op,
                                                       const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::reduce_scatter_list_call(buffers, type, op), comm, options);
}
[[nodiscard]] inline Plan plan_reduce_scatter_list(std::span<const ListedBuffer> buffers, Type type, const Op& op,
                                                   const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::reduce_scatter_list_call(buffers, type, op), comm, options);
}

/// Take ranges of buffers, all in place: `allreduce_list(std::array{std::span{a}, std::span{b}}, Op::sum, comm)`.
template <OutputBuffers R>
void allreduce_list(R&& buffers, const Op& op, const Communicator& comm, const Options& options = {}) {
  allreduce_list(detail::whole_buffers(buffers), detail::type_in_list<R>, op, comm, options);
}
template <OutputBuffers R>
[[nodiscard]] Request allreduce_list_async(R&& buffers, const Op& op, const Communicator& comm,
                                           const Options& options = {}) {
  return allreduce_list_async(detail::whole_buffers(buffers), detail::type_in_list<R>, op, comm, options);
}
template <OutputBuffers R>
[[nodiscard]] Plan plan_allreduce_list(R&& buffers, const Op& op, const Communicator& comm,
                                       const Options& options = {}) {
  return plan_allreduce_list(detail::whole_buffers(buffers), detail::type_in_list<R>, op, comm, options);
}

template <OutputBuffers R>
void broadcast_list(R&& buffers, Rank root, const Communicator& comm, const Options& options = {}) {
  broadcast_list(detail::whole_buffers(buffers), detail::type_in_list<R>, root, comm, options);
}
template <OutputBuffers R>
[[nodiscard]] Request broadcast_list_async(R&& buffers, Rank root, const Communicator& comm,
                                           const Options& options = {}) {
  return broadcast_list_async(detail::whole_buffers(buffers), detail::type_in_list<R>, root, comm, options);
}
template <OutputBuffers R>
[[nodiscard]] Plan plan_broadcast_list(R&& buffers, Rank root, const Communicator& comm, const Options& options = {}) {
  return plan_broadcast_list(detail::whole_buffers(buffers), detail::type_in_list<R>, root, comm, options);
}

/// Each buffer already holds this rank's block.
template <OutputBuffers R>
void allgather_list(R&& buffers, const Communicator& comm, const Options& options = {}) {
  allgather_list(detail::blocks_in(buffers, "allgather_list", comm.rank(), comm), detail::type_in_list<R>, comm,
                 options);
}
template <OutputBuffers R>
[[nodiscard]] Request allgather_list_async(R&& buffers, const Communicator& comm, const Options& options = {}) {
  return allgather_list_async(detail::blocks_in(buffers, "allgather_list", comm.rank(), comm), detail::type_in_list<R>,
                              comm, options);
}
template <OutputBuffers R>
[[nodiscard]] Plan plan_allgather_list(R&& buffers, const Communicator& comm, const Options& options = {}) {
  return plan_allgather_list(detail::blocks_in(buffers, "allgather_list", comm.rank(), comm), detail::type_in_list<R>,
                             comm, options);
}

/// The result is at the start of each buffer, the rest of which is unchanged.
template <OutputBuffers R>
void reduce_scatter_list(R&& buffers, const Op& op, const Communicator& comm, const Options& options = {}) {
  reduce_scatter_list(detail::blocks_in(buffers, "reduce_scatter_list", Rank{0}, comm), detail::type_in_list<R>, op,
                      comm, options);
}
template <OutputBuffers R>
[[nodiscard]] Request reduce_scatter_list_async(R&& buffers, const Op& op, const Communicator& comm,
                                                const Options& options = {}) {
  return reduce_scatter_list_async(detail::blocks_in(buffers, "reduce_scatter_list", Rank{0}, comm),
                                   detail::type_in_list<R>, op, comm, options);
}
template <OutputBuffers R>
[[nodiscard]] Plan plan_reduce_scatter_list(R&& buffers, const Op& op, const Communicator& comm,
                                            const Options& options = {}) {
  return plan_reduce_scatter_list(detail::blocks_in(buffers, "reduce_scatter_list", Rank{0}, comm),
                                  detail::type_in_list<R>, op, comm, options);
}

}  // namespace tutti
