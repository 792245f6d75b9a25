#pragma once
// The kernels of one instruction set, and the instruction sets that this build has.

#include <span>

#include "lib/reduce/kernels.hpp"

namespace tutti {

/// Kinds that have kernels: all but `user`, which is the last.
inline constexpr int built_in_kinds = static_cast<int>(Op::Kind::user);

/// nullptr where the operation is not defined for the type.
struct KernelTable {
  const char* name;
  ReduceKernel reduce[built_in_kinds][type_count];
  ReduceManyKernel reduce_many[built_in_kinds][type_count];
  DivideKernel divide[type_count];
  ScaleKernel scale[type_count];
};

extern const KernelTable kernels_baseline;  ///< The instruction set that the whole build is for.
extern const KernelTable kernels_avx2;      ///< x86 with AVX2 and F16C.
/// x86 with AVX-512 F, BW, DQ and VL; logical operations and those on bits are kernels_avx2's, and null here.
extern const KernelTable kernels_avx512;

/// The tables that this processor can run, the fastest last. They give the same bits, but for the payloads of NaNs.
[[nodiscard]] std::span<const KernelTable* const> runnable_kernel_tables();

}  // namespace tutti
