#pragma once
// Allreduce: every rank gets the combination of the elements of all ranks.

#include <span>
#include <string_view>
#include <type_traits>

#include "tutti/communicator.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"
#include "tutti/request.hpp"

namespace tutti {

/// What may be chosen per call; the same on all ranks.
struct Options {
  std::string_view algorithm = {};  ///< A name from the registry; empty: Tutti chooses.
};

/// out[i] = in[i] of rank 0 (+) in[i] of rank 1 (+) ..., for i < count; the same bits on all ranks.
///
/// Shapes  `in` and `out`: `count` elements of `type`, separate or the same (in place; MPI_IN_PLACE as `in` works too).
/// Errors  ArgumentError before any message is posted: a null buffer with count > 0, buffers that overlap partly,
///         count < 0, too large to address or leaving no memory for scratch, an operation that the type does not have,
///         an algorithm that is unknown or needs a commutative operation. StateError: communicator closed, or MPI
///         finalized. Error: a message failed, or its size shows that a rank called with other arguments.
/// Cost    of the algorithm: algorithms/README.md. Nothing is allocated when the same count, type and operation recur.
void allreduce(const void* in, void* out, Count count, Type type, const Op& op, const Communicator& comm,
               const Options& options = {});
[[nodiscard]] Request allreduce_async(const void* in, void* out, Count count, Type type, const Op& op,
                                      const Communicator& comm, const Options& options = {});
[[nodiscard]] Plan plan_allreduce(const void* in, void* out, Count count, Type type, const Op& op,
                                  const Communicator& comm, const Options& options = {});

namespace detail {
/// Throws ArgumentError unless the two spans have the same length; returns it.
Count same_length(std::size_t in, std::size_t out, const Communicator& comm);
template <class In, class Out>
concept SameElement = Element<Out> && std::same_as<std::remove_const_t<In>, Out>;
}  // namespace detail

/// The same on spans of equal length.
template <class In, class T>
requires detail::SameElement<In, T>
void allreduce(std::span<In> in, std::span<T> out, const Op& op, const Communicator& comm,
               const Options& options = {}) {
  allreduce(in.data(), out.data(), detail::same_length(in.size(), out.size(), comm), type_of<T>, op, comm, options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Request allreduce_async(std::span<In> in, std::span<T> out, const Op& op, const Communicator& comm,
                                      const Options& options = {}) {
  return allreduce_async(in.data(), out.data(), detail::same_length(in.size(), out.size(), comm), type_of<T>, op, comm,
                         options);
}
template <class In, class T>
requires detail::SameElement<In, T>
[[nodiscard]] Plan plan_allreduce(std::span<In> in, std::span<T> out, const Op& op, const Communicator& comm,
                                  const Options& options = {}) {
  return plan_allreduce(in.data(), out.data(), detail::same_length(in.size(), out.size(), comm), type_of<T>, op, comm,
                        options);
}

/// In place: one span.
template <Element T>
void allreduce(std::span<T> data, const Op& op, const Communicator& comm, const Options& options = {}) {
  allreduce(data, data, op, comm, options);
}
template <Element T>
[[nodiscard]] Request allreduce_async(std::span<T> data, const Op& op, const Communicator& comm,
                                      const Options& options = {}) {
  return allreduce_async(data, data, op, comm, options);
}
template <Element T>
[[nodiscard]] Plan plan_allreduce(std::span<T> data, const Op& op, const Communicator& comm,
                                  const Options& options = {}) {
  return plan_allreduce(data, data, op, comm, options);
}

}  // namespace tutti
