#pragma once
// Compression and its reverse. Included once per instruction set, as kernel_loops.hpp.

#include <cstddef>
#include <cstdint>

#include "lib/core/reduce/compression_elements.hpp"
#include "lib/core/reduce/low_precision_kernels.hpp"
#include "lib/core/reduce/standard_rounding.hpp"

namespace tutti {
namespace {

template <class T>
const std::byte* bytes_at(const T* data, std::size_t index) {
  return reinterpret_cast<const std::byte*>(data + index);
}
template <class T>
std::byte* bytes_at(T* data, std::size_t index) {
  return reinterpret_cast<std::byte*>(data + index);
}

/// Calls what(lanes, i) for all elements from `begin` on: whole lanes, then one by one.
template <std::size_t lanes, class What>
[[gnu::always_inline]] inline void for_lanes(std::size_t begin, std::size_t end, const What& what) {
  for (; begin + lanes <= end; begin += lanes)
    what(LaneCount<lanes>{}, begin);
  for (; begin < end; ++begin)
    what(LaneCount<1>{}, begin);
}

/// The elements that are compressed: in, or in + error, which is then in `error`.
template <std::size_t lanes>
[[gnu::always_inline]] inline Lanes<float, lanes> summand(const CompressArguments& a, std::size_t i) {
  using Floats = Lanes<float, lanes>;
  const auto in = load<Floats>(bytes_at(a.in, i));
  return a.error == nullptr ? in : in + load<Floats>(bytes_at(a.error, i));
}

/// Formats without scales: each element by itself.
template <class Format, bool is_stochastic, std::size_t lanes>
void compress_each(const CompressArguments& a) {
  const StandardRounding standard;
  for_lanes<lanes>(0, a.count, [&]<std::size_t n>(LaneCount<n>, std::size_t i) {
    using Floats = Lanes<float, n>;
    const Floats value = summand<n>(a, i);
    const auto packed = Format::template packed<is_stochastic>(value);
    store(a.elements + i * Format::bytes, packed);
    if (a.error != nullptr) store(bytes_at(a.error, i), rest_of(value, Format::unpacked(packed)));
  });
}

template <class Format, bool adds, std::size_t lanes>
void decompress_each(const DecompressArguments& a) {
  const StandardRounding standard;
  for_lanes<lanes>(0, a.count, [&]<std::size_t n>(LaneCount<n>, std::size_t i) {
    using Floats = Lanes<float, n>;
    using Packed = Lanes<typename Format::InMemory, n>;
    const Floats value = Format::unpacked(load<Packed>(a.elements + i * Format::bytes));
    store(bytes_at(a.out, i), adds ? load<Floats>(bytes_at(a.out, i)) + value : value);
  });
}

/// The bits of the largest magnitude of a block, by lanes of 32 bits without signs. in + error goes to `error`.
template <std::size_t lanes>
[[gnu::always_inline]] inline std::uint32_t largest_of(const CompressArguments& a, std::size_t begin, std::size_t end) {
  using Integers = Lanes<std::int32_t, lanes>;
  Integers in_lanes{};
  std::int32_t largest = 0;
  for_lanes<lanes>(begin, end, [&]<std::size_t n>(LaneCount<n>, std::size_t i) {
    using These = Lanes<std::int32_t, n>;
    const auto value = summand<n>(a, i);
    if (a.error != nullptr) store(bytes_at(a.error, i), value);
    const These magnitude = cast<These>(value) & 0x7fffffff;
    if constexpr (n == lanes) {
      in_lanes = in_lanes < magnitude ? magnitude : in_lanes;
    } else {
      largest = largest < magnitude ? magnitude : largest;
    }
  });
  if constexpr (lanes > 1)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      largest = largest < in_lanes[lane] ? in_lanes[lane] : largest;
  return static_cast<std::uint32_t>(largest);
}

/// Formats with a scale for each block.
template <class Format, bool is_stochastic, std::size_t lanes>
void compress_blocks(const CompressArguments& a) {
  const StandardRounding standard;
  std::byte* scale_at = a.scales;
  for (std::size_t begin = 0, end = 0; begin < a.count; begin = end, scale_at += sizeof(float)) {
    end = a.count - begin < a.block ? a.count : begin + a.block;
    const BlockScale scale = Format::scale_of(largest_of<lanes>(a, begin, end));
    store(scale_at, scale.unit);
    const float* const values = a.error == nullptr ? a.in : a.error;
    for_lanes<lanes>(begin, end, [&]<std::size_t n>(LaneCount<n>, std::size_t i) {
      const auto value = load<Lanes<float, n>>(bytes_at(values, i));
      const auto packed = Format::template packed<is_stochastic>(value, scale.reciprocal);
      store(a.elements + i, packed);
      if (a.error != nullptr) store(bytes_at(a.error, i), rest_of(value, Format::unpacked(packed) * scale.unit));
    });
  }
}

template <class Format, bool adds, std::size_t lanes>
void decompress_blocks(const DecompressArguments& a) {
  const StandardRounding standard;
  const std::byte* scale_at = a.scales;
  for (std::size_t begin = 0, end = 0; begin < a.count; begin = end, scale_at += sizeof(float)) {
    end = a.count - begin < a.block ? a.count : begin + a.block;
    const auto unit = load<float>(scale_at);
    for_lanes<lanes>(begin, end, [&]<std::size_t n>(LaneCount<n>, std::size_t i) {
      using Floats = Lanes<float, n>;
      const Floats value = Format::unpacked(load<Lanes<typename Format::InMemory, n>>(a.elements + i)) * unit;
      store(bytes_at(a.out, i), adds ? load<Floats>(bytes_at(a.out, i)) + value : value);
    });
  }
}

}  // namespace
}  // namespace tutti
