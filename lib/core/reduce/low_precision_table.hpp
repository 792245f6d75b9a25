#pragma once
// The table of kernels for elements of low precision. Included once per instruction set, as kernel_loops.hpp.

#include <cstddef>

#include "lib/core/reduce/compression_loops.hpp"
#include "lib/core/reduce/low_precision_kernels.hpp"
#include "lib/core/reduce/wide_loops.hpp"

namespace tutti {
namespace {

template <std::size_t register_bytes>
struct LowPrecision {
  static constexpr std::size_t floats = register_bytes / sizeof(float);

  template <class Element, class Wide, bool is_average, bool is_stochastic>
  static constexpr AccumulatingKernels sum() {
    constexpr std::size_t lanes = register_bytes / sizeof(Wide);
    return {wide_sum_of_two<Element, Wide, is_average, is_stochastic, lanes>,
            wide_sum_of_many<Element, Wide, is_average, is_stochastic, lanes>};
  }
  template <class Element, class Wide>
  static constexpr void add(LowPrecisionKernels& kernels, Type type, std::size_t wide) {
    auto& its = kernels.sums[static_cast<std::size_t>(type)][wide];
    its[0][0] = sum<Element, Wide, false, false>();
    its[0][1] = sum<Element, Wide, false, true>();
    its[1][0] = sum<Element, Wide, true, false>();
    its[1][1] = sum<Element, Wide, true, true>();
  }
  template <class Element>
  static constexpr void add_both(LowPrecisionKernels& kernels, Type type) {
    add<Element, float>(kernels, type, 0);
    add<Element, double>(kernels, type, 1);
  }

  template <class Format>
  static constexpr void add_each(LowPrecisionKernels& kernels, std::size_t at) {
    kernels.compress[at] = {compress_each<Format, false, floats>, compress_each<Format, true, floats>};
    kernels.decompress[at] = {decompress_each<Format, false, floats>, decompress_each<Format, true, floats>};
  }
  template <class Format>
  static constexpr void add_blocks(LowPrecisionKernels& kernels, std::size_t at) {
    kernels.compress[at] = {compress_blocks<Format, false, floats>, compress_blocks<Format, true, floats>};
    kernels.decompress[at] = {decompress_blocks<Format, false, floats>, decompress_blocks<Format, true, floats>};
  }

  template <class HalfConversion>
  static constexpr LowPrecisionKernels make() {
    LowPrecisionKernels kernels{};
    add_both<WideFp8<E4m3>>(kernels, Type::fp8_e4m3);
    add_both<WideFp8<E5m2>>(kernels, Type::fp8_e5m2);
    add_both<WideHalf<HalfConversion>>(kernels, Type::fp16);
    add_both<WideBfloat>(kernels, Type::bf16);
    add<FloatElement, double>(kernels, Type::fp32, 1);
    // In the order of Compression.
    add_each<PackedBfloat>(kernels, 0);
    add_each<PackedFp16<HalfConversion>>(kernels, 1);
    add_blocks<PackedE4m3>(kernels, 2);
    add_blocks<PackedE5m2>(kernels, 3);
    add_blocks<PackedInt8>(kernels, 4);
    return kernels;
  }
};

}  // namespace
}  // namespace tutti
