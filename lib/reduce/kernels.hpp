#pragma once
// The host's arithmetic: one table of kernels, found once when a plan is compiled.

#include <cstddef>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti {

/// into[i] = lhs[i] (+) rhs[i] for i < count. `into` may be `lhs` or `rhs` exactly; else they do not overlap.
using ReduceKernel = void (*)(const void* lhs, const void* rhs, void* into, std::size_t count);

/// data[i] = data[i] / divisor (integers: towards zero) for i < count; one rounding per element.
using DivideKernel = void (*)(void* data, std::size_t count, int divisor);

/// data[i] = data[i] * factor for i < count, computed in float (fp16, bf16, fp32) or double, rounded once.
using ScaleKernel = void (*)(void* data, std::size_t count, double factor);

/// The kernel that combines two arrays. Needs supports(kind, type) and kind != user; avg and scaled_sum combine as sum.
[[nodiscard]] ReduceKernel reduce_kernel(Op::Kind kind, Type type);
/// The kernel that finishes avg.
[[nodiscard]] DivideKernel divide_kernel(Type type);
/// The kernel that finishes scaled_sum. Needs a floating-point or complex type.
[[nodiscard]] ScaleKernel scale_kernel(Type type);

}  // namespace tutti
