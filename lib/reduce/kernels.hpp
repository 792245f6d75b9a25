#pragma once
// The host's arithmetic: one table of kernels, found once when a plan is compiled.

#include <cstddef>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti {

/// into[i] = lhs[i] (+) rhs[i] for i < count. `into` may be `lhs` or `rhs` exactly (not both); else they do not
/// overlap. The pointers may have any alignment.
using ReduceKernel = void (*)(const void* lhs, const void* rhs, void* into, std::size_t count);

/// data[i] = data[i] / divisor (integers: towards zero) for i < count; divisor > 0. Floating point as ScaleKernel.
using DivideKernel = void (*)(void* data, std::size_t count, int divisor);

/// data[i] = data[i] * factor for i < count, computed in float (fp16, bf16, fp32 and its complex) or double.
using ScaleKernel = void (*)(void* data, std::size_t count, double factor);

/// The kernel that combines two arrays; avg and scaled_sum combine as sum. nullptr for user, and where not supports().
[[nodiscard]] ReduceKernel reduce_kernel(Op::Kind kind, Type type);
/// The kernel that finishes avg.
[[nodiscard]] DivideKernel divide_kernel(Type type);
/// The kernel that finishes scaled_sum; nullptr for integers.
[[nodiscard]] ScaleKernel scale_kernel(Type type);

}  // namespace tutti
