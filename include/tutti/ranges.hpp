#pragma once
// The arguments that calls accept. A buffer is a scalar, any contiguous range whose size is known, or memory of a GPU;
// counts are any range of integers.

#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "tutti/datatype.hpp"
#include "tutti/device_span.hpp"
#include "tutti/types.hpp"

namespace tutti {

namespace detail {

template <class T>
concept Scalar = Element<std::remove_cvref_t<T>> && !std::is_volatile_v<std::remove_reference_t<T>>;

/// std::vector, std::array, an array of C, std::span, SharedBuffer, ... of elements.
template <class R>
concept ElementRange =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && Element<std::ranges::range_value_t<R>> &&
    std::same_as<std::remove_const_t<std::remove_reference_t<std::ranges::range_reference_t<R>>>,
                 std::ranges::range_value_t<R>>;

template <class B>
inline constexpr bool is_device_span = false;
template <class T>
inline constexpr bool is_device_span<DeviceSpan<T>> = true;
template <class B>
concept DeviceElements = is_device_span<std::remove_cvref_t<B>>;

// The elements that the call sees in a buffer: T, const if it may not be written.
template <class B>
struct Viewed {};
template <Scalar B>
struct Viewed<B> {
  using type = std::remove_reference_t<B>;
  static constexpr bool lasts = std::is_lvalue_reference_v<B>;
};
template <ElementRange B>
struct Viewed<B> {
  using type = std::remove_reference_t<std::ranges::range_reference_t<B>>;
  static constexpr bool lasts = std::ranges::borrowed_range<B>;
};
template <DeviceElements B>
struct Viewed<B> {
  using type = std::remove_pointer_t<decltype(std::declval<B&>().data())>;
  static constexpr bool lasts = true;
};
template <class B>
using viewed_t = typename Viewed<B>::type;
template <class B>
using element_t = std::remove_const_t<viewed_t<B>>;

}  // namespace detail

// B is the type that a forwarding reference deduces: an lvalue reference, or the type of a temporary.

/// A buffer that a blocking call may read: a scalar, a contiguous range of elements of known size, or a DeviceSpan.
/// Temporaries too.
template <class B>
concept InputBuffer = detail::Scalar<B> || detail::ElementRange<B> || detail::DeviceElements<B>;

/// A buffer that may be read after the call has returned, as nonblocking and persistent calls do: an lvalue, or a view
/// as std::span, but no temporary that owns its elements.
template <class B>
concept LastingInputBuffer = InputBuffer<B> && detail::Viewed<B>::lasts;

/// A buffer that a call may write: its elements are not const, and it is no temporary that owns them, as the result
/// would be lost with it.
template <class B>
concept OutputBuffer = LastingInputBuffer<B> && !std::is_const_v<detail::viewed_t<B>>;

/// Counts or offsets of blocks: a range of integers, or of Count, that can be read while const.
template <class R>
concept CountRange = std::ranges::input_range<R> &&
    (std::same_as<std::ranges::range_value_t<R>, Count> ||
     (std::integral<std::ranges::range_value_t<R>> && !std::same_as<std::ranges::range_value_t<R>, bool> &&
      sizeof(std::ranges::range_value_t<R>) <= sizeof(std::int64_t)));

namespace detail {

template <class In, class Out>
concept SameElement = std::same_as<element_t<In>, element_t<Out>>;

/// The elements of a buffer. The parameter is an lvalue: the name of a caller's parameter, which outlives the call.
template <class B>
[[nodiscard]] auto elements_of(B& buffer) {
  using T = viewed_t<B&>;
  if constexpr (Scalar<B&>)
    return std::span<T>{std::addressof(buffer), 1};
  else if constexpr (DeviceElements<B&>)
    return std::span<T>{buffer.data(), buffer.size()};
  else
    return std::span<T>{std::ranges::data(buffer), static_cast<std::size_t>(std::ranges::size(buffer))};
}
/// The elements of a buffer, read-only.
template <class B>
[[nodiscard]] std::span<const element_t<B&>> input_of(B& buffer) {
  return elements_of(buffer);
}

}  // namespace detail
}  // namespace tutti
