#pragma once
// The arguments of the kernels, as host and device see them.

#include <cstddef>
#include <cstdint>

#include "lib/core/reduce/compression_arguments.hpp"

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
  int divisor;  ///< Of sums in a wider type, which are divided by it before they are rounded.
  Split split;
};

/// data[i] = data[i] / divisor, or data[i] * factor, for i < count. Any alignment.
struct FinishArguments {
  std::byte* data;
  Split split;
  double factor;
  int divisor;
};

/// `is_wide`: every array is aligned to four elements, and blocks are multiples of four. Else the arrays are aligned to
/// an element.
struct CompressLaunch {
  CompressArguments call;
  bool is_wide;
};
struct DecompressLaunch {
  DecompressArguments call;
  bool is_wide;
};

inline constexpr unsigned top_digits = 2048, most_chunks = 1024;
/// Of a chunk of elements: how many are larger than the k-th magnitude, and how many have it.
struct TopTally {
  std::uint32_t larger, equal;
};
/// What the passes of one selection leave for each other, in memory of the device.
struct TopState {
  std::uint32_t magnitude, known;    ///< The bits of the k-th magnitude that are known, and which these are.
  std::uint32_t larger;              ///< Elements that are larger, as far as it is known.
  std::uint32_t counts[top_digits];  ///< By digit.
  TopTally tallies[most_chunks];
};
/// A pass of the selection of the largest elements; the digit has `width` bits from `shift` on.
struct TopArguments {
  CompressArguments call;
  TopState* state;
  std::uint32_t shift, width;
};

}  // namespace tutti::cuda
