#pragma once
// Reductions over an array that is distributed over the ranks, whose bits do not depend on the number of ranks or on
// the cuts: sum, dot, norm2, and any operation.

#include <concepts>
#include <optional>

#include "tutti/call.hpp"
#include "tutti/communicator.hpp"
#include "tutti/ranges.hpp"

namespace tutti {

namespace detail {

/// Elements of a rank's block: x[i], or x[i] * y[i].
struct ArrayBlock {
  const void* x = nullptr;
  const void* y = nullptr;  ///< nullptr: x alone.
  Count count{};
  std::optional<Count> offset{};  ///< Of the block in the array; nothing: blocks follow each other as ranks do.
};
/// Whether the array has elements; if so, `result` is their reduction.
TUTTI_API bool reduce_array(std::string_view function, const ArrayBlock& block, Type type, const Op& op, void* result,
                            const Communicator& comm);
TUTTI_API double norm2(const ArrayBlock& block, Type type, const Communicator& comm);

template <class B>
concept RealBuffer = InputBuffer<B> && std::floating_point<element_t<B>>;

}  // namespace detail

// Each rank has a block of the array: `x`, whose first element is number `offset` of the array. Without an offset
// blocks follow each other in the order of ranks. Blocks may be empty.
//
// The expression is a binary tree over the indices: a range of 2^k elements that begins at a multiple of 2^k combines
// its two halves. So the bits are the same for one rank and for any number of ranks, and for any cuts.
//
// Errors  ArgumentError, on all ranks, if blocks overlap or leave a gap; and those of a reduction.
// Memory  Blocks may be on a device: the host then reads them through a buffer of 1 MiB.
// Cost    Each element is read once. A rank tells all others at most 2 log2 n partial results: two allgathers.

/// The sum of all elements; 0 if there are none.
template <InputBuffer X>
[[nodiscard]] detail::element_t<X> sum(X&& x, const Communicator& comm, std::optional<Count> offset = {}) {
  const auto data = detail::input_of(x);
  detail::element_t<X> result{};
  detail::reduce_array("sum", {data.data(), nullptr, Count{data.size()}, offset}, type_of<detail::element_t<X>>,
                       Op::sum, &result, comm);
  return result;
}

/// The sum of x[i] * y[i], each product rounded; 0 if there are none. Both have the same cuts.
template <detail::RealBuffer X, detail::RealBuffer Y>
requires detail::SameElement<X, Y>
[[nodiscard]] detail::element_t<X> dot(X&& x, Y&& y, const Communicator& comm, std::optional<Count> offset = {}) {
  const auto a = detail::input_of(x), b = detail::input_of(y);
  const Count count = detail::same_length("dot", a.size(), b.size(), comm);
  detail::element_t<X> result{};
  detail::reduce_array("dot", {a.data(), b.data(), count, offset}, type_of<detail::element_t<X>>, Op::sum, &result,
                       comm);
  return result;
}

/// The square root of the sum of squares. Where squares would be too large or too small for the type, elements are
/// scaled by a power of two first, so that only the result can overflow.
template <detail::RealBuffer X>
[[nodiscard]] detail::element_t<X> norm2(X&& x, const Communicator& comm, std::optional<Count> offset = {}) {
  const auto data = detail::input_of(x);
  return static_cast<detail::element_t<X>>(
      detail::norm2({data.data(), nullptr, Count{data.size()}, offset}, type_of<detail::element_t<X>>, comm));
}

/// element 0 (+) element 1 (+) ..., in this order, in the groups of the tree: any associative operation but avg and
/// scaled_sum. Op::exact_sum needs no groups: the sum is exact, and rounded once. ArgumentError if there are no
/// elements, except for sums.
template <InputBuffer X>
[[nodiscard]] detail::element_t<X> reduce_array(X&& x, const Op& op, const Communicator& comm,
                                                std::optional<Count> offset = {}) {
  const auto data = detail::input_of(x);
  detail::element_t<X> result{};
  detail::reduce_array("reduce_array", {data.data(), nullptr, Count{data.size()}, offset},
                       type_of<detail::element_t<X>>, op, &result, comm);
  return result;
}

}  // namespace tutti
