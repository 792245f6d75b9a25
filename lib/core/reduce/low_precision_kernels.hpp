#pragma once
// The kernels for elements of low precision: sums in a wider type, and compression. One table for each instruction set,
// in its KernelTable; all give the same bits.

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/core/reduce/compression_arguments.hpp"
#include "lib/core/reduce/kernels.hpp"

namespace tutti {

/// The kernels of one operation that adds in a wider type.
struct AccumulatingKernels {
  ReduceKernel two = nullptr;
  ReduceManyKernel many = nullptr;
};

using CompressKernel = void (*)(const CompressArguments& arguments);
using DecompressKernel = void (*)(const DecompressArguments& arguments);

/// The formats that have kernels, in the order of Compression: bf16, fp16, fp8_e4m3, fp8_e5m2, int8.
inline constexpr std::size_t packed_formats = 5;

struct LowPrecisionKernels {
  /// By type, wide type (fp32, fp64), operation (sum, avg) and rounding. Null where a type is not wider.
  std::array<std::array<std::array<std::array<AccumulatingKernels, 2>, 2>, 2>, type_count> sums{};
  std::array<std::array<CompressKernel, 2>, packed_formats> compress{};      ///< By format and rounding.
  std::array<std::array<DecompressKernel, 2>, packed_formats> decompress{};  ///< By format; out =, out +=.

  /// The kernels of an operation with Op::accumulate(); nullptr: there are none.
  [[nodiscard]] const AccumulatingKernels* find(const Op& op, Type type) const {
    const Type wide = *op.accumulate();
    if ((wide != Type::fp32 && wide != Type::fp64) || (op.kind() != Op::Kind::sum && op.kind() != Op::Kind::avg))
      return nullptr;
    const AccumulatingKernels& its =
        sums[static_cast<std::size_t>(type)][wide == Type::fp64 ? 1 : 0][op.kind() == Op::Kind::avg ? 1 : 0]
            [op.rounding() == Rounding::nearest ? 0 : 1];
    return its.many == nullptr ? nullptr : &its;
  }
};

extern const LowPrecisionKernels low_precision_baseline;
extern const LowPrecisionKernels low_precision_avx2;
extern const LowPrecisionKernels low_precision_avx512;

/// The processor's best.
[[nodiscard]] const LowPrecisionKernels& low_precision_kernels();

}  // namespace tutti
