#pragma once
// The arguments of the kernels, as host and device see them.

#include <cstddef>
#include <cstdint>

namespace tutti::cuda {

inline constexpr int most_inputs = 32, most_outputs = 32;
inline constexpr std::uint64_t vector_bytes = 16;

/// How the threads divide the elements. First come `head` elements, then `vectors` of 16 bytes, whose addresses are
/// multiples of 16 in every array, then the other elements. A thread takes a whole vector, or an element.
struct Split {
  std::uint64_t count, head, vectors;
  /// Whether every array is aligned to the elements (complex numbers: to their parts). Else elements go byte by byte,
  /// and there are no vectors.
  bool is_aligned;
};

/// outputs[k][i] = inputs[0][i] (+) inputs[1][i] (+) ... for i < count and every k, from left to right. Any alignment.
/// An output may be an input exactly; else it overlaps none.
struct ReduceArguments {
  const std::byte* inputs[most_inputs];
  std::byte* outputs[most_outputs];
  int input_count, output_count;
  Split split;
};

/// data[i] = data[i] / divisor, or data[i] * factor, for i < count. Any alignment.
struct FinishArguments {
  std::byte* data;
  Split split;
  double factor;
  int divisor;
};

}  // namespace tutti::cuda
