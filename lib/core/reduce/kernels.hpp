#pragma once
// The host's arithmetic: a table of kernels for each instruction set, of which one is found once when a plan is
// compiled.

#include <cstddef>
#include <span>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti {

/// into[i] = lhs[i] (+) rhs[i] for i < count. `into` may be `lhs` or `rhs` exactly (not both); else they do not
/// overlap. The pointers may have any alignment.
using ReduceKernel = void (*)(const void* lhs, const void* rhs, void* into, std::size_t count);

/// into[i] = operands[0][i] (+) operands[1][i] (+) ... for i < count, from left to right and each step rounded as
/// ReduceKernel rounds it: the bits are those of operand_count - 1 calls of it, in one pass over memory. exact_sum
/// rounds once, at the end.
/// operand_count >= 1. `into` may be any one of the operands exactly, else it overlaps none of them. `also`, unless it
/// is nullptr, gets the same result; it may be an operand exactly, else it overlaps nothing. The pointers may have any
/// alignment.
using ReduceManyKernel = void (*)(const void* const* operands, std::size_t operand_count, void* into, void* also,
                                  std::size_t count);

/// data[i] = data[i] / divisor (integers: towards zero) for i < count; divisor > 0. Floating point as ScaleKernel.
using DivideKernel = void (*)(void* data, std::size_t count, int divisor);

/// data[i] = data[i] * factor for i < count, computed in float (types of up to 32 bits, and complex_fp32) or double.
using ScaleKernel = void (*)(void* data, std::size_t count, double factor);

/// The kernel that combines two arrays; avg and scaled_sum combine as sum. nullptr for user, and where not
/// supports().
[[nodiscard]] ReduceKernel reduce_kernel(Op::Kind kind, Type type);
/// The kernel that combines many arrays; nullptr where reduce_kernel() is.
[[nodiscard]] ReduceManyKernel reduce_many_kernel(Op::Kind kind, Type type);
/// The same for an operation that may add in a wider type (Op::accumulate). These kernels round once, so that they have
/// to get all operands of an element, in the order of ranks; that of two gets both ranks'. avg divides by the number of
/// operands before it rounds. All NaNs are the same.
[[nodiscard]] ReduceKernel reduce_kernel(const Op& op, Type type);
[[nodiscard]] ReduceManyKernel reduce_many_kernel(const Op& op, Type type);
/// The kernel that finishes avg.
[[nodiscard]] DivideKernel divide_kernel(Type type);
/// The kernel that finishes scaled_sum; nullptr for integers.
[[nodiscard]] ScaleKernel scale_kernel(Type type);

/// Kinds that have kernels: all but `user`, which is the last.
inline constexpr int built_in_kinds = static_cast<int>(Op::Kind::user);

struct LowPrecisionKernels;

/// nullptr where the operation is not defined for the type.
struct KernelTable {
  const char* name;
  ReduceKernel reduce[built_in_kinds][type_count];
  ReduceManyKernel reduce_many[built_in_kinds][type_count];
  DivideKernel divide[type_count];
  ScaleKernel scale[type_count];
  const LowPrecisionKernels* low_precision;
};

extern const KernelTable kernels_baseline;  ///< The instruction set that the whole build is for.
extern const KernelTable kernels_avx2;      ///< x86 with AVX2 and F16C.
/// x86 with AVX-512 F, BW, DQ and VL; logical operations and those on bits are kernels_avx2's, and null here.
extern const KernelTable kernels_avx512;

/// The tables that this processor can run, the fastest last. They give the same bits, but for the payloads of NaNs.
[[nodiscard]] std::span<const KernelTable* const> runnable_kernel_tables();

}  // namespace tutti
