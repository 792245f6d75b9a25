#pragma once
// The host's arithmetic: one table of kernels, found once when a plan is compiled.

#include <cstddef>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti {

/// into[i] = lhs[i] (+) rhs[i] for i < count. `into` may be `lhs` or `rhs` exactly (not both); else they do not
/// overlap. The pointers may have any alignment.
using ReduceKernel = void (*)(const void* lhs, const void* rhs, void* into, std::size_t count);

/// into[i] = operands[0][i] (+) operands[1][i] (+) ... for i < count, from left to right and each step rounded as
/// ReduceKernel rounds it: the bits are those of operand_count - 1 calls of it, in one pass over memory.
/// operand_count >= 1. `into` may be any one of the operands exactly, else it overlaps none of them. `also`, unless it
/// is nullptr, gets the same result; it may be an operand exactly, else it overlaps nothing. The pointers may have any
/// alignment.
using ReduceManyKernel = void (*)(const void* const* operands, std::size_t operand_count, void* into, void* also,
                                  std::size_t count);

/// data[i] = data[i] / divisor (integers: towards zero) for i < count; divisor > 0. Floating point as ScaleKernel.
using DivideKernel = void (*)(void* data, std::size_t count, int divisor);

/// data[i] = data[i] * factor for i < count, computed in float (types of up to 32 bits, and complex_fp32) or double.
using ScaleKernel = void (*)(void* data, std::size_t count, double factor);

/// The kernel that combines two arrays; avg and scaled_sum combine as sum. nullptr for user, and where not supports().
[[nodiscard]] ReduceKernel reduce_kernel(Op::Kind kind, Type type);
/// The kernel that combines many arrays; nullptr where reduce_kernel() is.
[[nodiscard]] ReduceManyKernel reduce_many_kernel(Op::Kind kind, Type type);
/// The kernel that finishes avg.
[[nodiscard]] DivideKernel divide_kernel(Type type);
/// The kernel that finishes scaled_sum; nullptr for integers.
[[nodiscard]] ScaleKernel scale_kernel(Type type);

}  // namespace tutti
