#pragma once
// The arguments of the functions that compress and decompress, on hosts and devices. C++17.

#include <cstddef>

namespace tutti {

/// out = compressed(in + error); error = in + error, less what out stands for. `error` may be nullptr: nothing is
/// added, and the rest is dropped. Scales, one for each `block` elements, are where `scales` says, if the format has
/// them. top_k: there are `block` places in `scales`, and as many elements.
struct CompressArguments {
  const float* in;
  float* error;
  std::byte* scales;
  std::byte* elements;
  std::size_t count, block;
};

/// out = decompressed(scales, elements), or out += that.
struct DecompressArguments {
  const std::byte* scales;
  const std::byte* elements;
  float* out;
  std::size_t count, block;
};

}  // namespace tutti
