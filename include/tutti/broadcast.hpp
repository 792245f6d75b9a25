#pragma once
// Broadcast: the root's elements go to every rank.

#include <span>

#include "tutti/call.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

namespace detail {
inline Call broadcast_call(const void* in, void* out, Count count, Type type, Rank root) {
  return {.function = "broadcast",
          .collective = Collective::broadcast,
          .in = in,
          .out = out,
          .count = count,
          .type = type,
          .root = root};
}
template <class T>
Call broadcast_call(std::span<T> data, Rank root) {
  return broadcast_call(data.data(), data.data(), Count{data.size()}, type_of<T>, root);
}
template <class T>
Call broadcast_call(std::span<const T> in, std::span<T> out, Rank root, const Communicator& comm) {
  return broadcast_call(in.data(), out.data(), root_length("broadcast", "in", in.size(), out.size(), root, comm),
                        type_of<T>, root);
}
}  // namespace detail

/// data[i] of the root goes to data[i] of every rank, for i < count.
///
/// Shapes  `data`: `count` elements of `type`; read on the root, written on the others.
/// Errors  ArgumentError before any message is posted: a null buffer with count > 0, a count < 0 or too large to
///         address, a root that is no rank, an unknown algorithm. StateError: the communicator is closed, or MPI is
///         finalized. Error: a message failed, or its size shows that a rank called with other arguments.
/// Cost    That of the algorithm: algorithms/README.md. Nothing is allocated when the same count, type and root recur.
inline void broadcast(void* data, Count count, Type type, Rank root, const Communicator& comm,
                      const Options& options = {}) {
  detail::run(detail::broadcast_call(data, data, count, type, root), comm, options);
}
[[nodiscard]] inline Request broadcast_async(void* data, Count count, Type type, Rank root, const Communicator& comm,
                                             const Options& options = {}) {
  return detail::start(detail::broadcast_call(data, data, count, type, root), comm, options);
}
[[nodiscard]] inline Plan plan_broadcast(void* data, Count count, Type type, Rank root, const Communicator& comm,
                                         const Options& options = {}) {
  return detail::prepare(detail::broadcast_call(data, data, count, type, root), comm, options);
}

/// Broadcasts from `in`, which is read on the root only, to `out`.
inline void broadcast(const void* in, void* out, Count count, Type type, Rank root, const Communicator& comm,
                      const Options& options = {}) {
  detail::run(detail::broadcast_call(in, out, count, type, root), comm, options);
}
[[nodiscard]] inline Request broadcast_async(const void* in, void* out, Count count, Type type, Rank root,
                                             const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::broadcast_call(in, out, count, type, root), comm, options);
}
[[nodiscard]] inline Plan plan_broadcast(const void* in, void* out, Count count, Type type, Rank root,
                                         const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::broadcast_call(in, out, count, type, root), comm, options);
}

/// Takes a buffer: a scalar or a contiguous range (tutti/ranges.hpp).
template <OutputBuffer Data>
void broadcast(Data&& data, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::broadcast_call(detail::elements_of(data), root), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Request broadcast_async(Data&& data, Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::broadcast_call(detail::elements_of(data), root), comm, options);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_broadcast(Data&& data, Rank root, const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::broadcast_call(detail::elements_of(data), root), comm, options);
}

/// Takes buffers `in` and `out`. `in` is used on the root only, where it has the length of `out`.
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void broadcast(In&& in, Out&& out, Rank root, const Communicator& comm, const Options& options = {}) {
  detail::run(detail::broadcast_call(detail::input_of(in), detail::elements_of(out), root, comm), comm, options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Request broadcast_async(In&& in, Out&& out, Rank root, const Communicator& comm,
                                      const Options& options = {}) {
  return detail::start(detail::broadcast_call(detail::input_of(in), detail::elements_of(out), root, comm), comm,
                       options);
}
template <LastingInputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
[[nodiscard]] Plan plan_broadcast(In&& in, Out&& out, Rank root, const Communicator& comm,
                                  const Options& options = {}) {
  return detail::prepare(detail::broadcast_call(detail::input_of(in), detail::elements_of(out), root, comm), comm,
                         options);
}

}  // namespace tutti
