#pragma once
// The arguments of the kernels, as host and device see them.

#include <cstddef>
#include <cstdint>

namespace tutti::cuda {

inline constexpr int most_inputs = 32, most_outputs = 8;

/// outputs[k][i] = inputs[0][i] (+) inputs[1][i] (+) ... for i < count and every k, from left to right. Any alignment.
/// An output may be an input exactly; else it overlaps none.
struct ReduceArguments {
  const std::byte* inputs[most_inputs];
  std::byte* outputs[most_outputs];
  int input_count, output_count;
  std::uint64_t count;
};

/// data[i] = data[i] / divisor, or data[i] * factor, for i < count.
struct FinishArguments {
  std::byte* data;
  std::uint64_t count;
  double factor;
  int divisor;
};

}  // namespace tutti::cuda
