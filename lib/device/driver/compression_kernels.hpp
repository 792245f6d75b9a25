#pragma once
// The kernels that compress and decompress on a device, of the module that Kernels loads.

#include <cuda.h>

#include <array>
#include <span>

#include "lib/core/reduce/compression_arguments.hpp"
#include "lib/device/driver/kernel_arguments.hpp"
#include "tutti/compression.hpp"

namespace tutti::cuda {

/// They give the host's bits (but for which NaN a NaN is).
class CompressionKernels {
 public:
  /// Finds all of them in a module. Throws DeviceError.
  void find(CUmodule module, unsigned most_blocks);
  [[nodiscard]] std::span<const CUfunction> all() const { return functions_; }

  /// Queues compress() of a call with a format of its own elements, by `rounding`.
  void compress(Compression format, Rounding rounding, const CompressArguments& call, CUstream stream) const;
  /// Queues the compression to top_k, for which `state` is needed until it is over.
  void compress_top(const CompressArguments& call, TopState* state, CUstream stream) const;
  /// Queues out = decompressed(in), or out += that. Places of top_k beyond the end are passed over.
  void decompress(Compression compression, bool adds, const DecompressArguments& call, CUstream stream) const;

 private:
  enum Pass : std::size_t { top_begin, top_count, top_choose, top_tally, top_place, top_clear, top_put, top_add };
  static constexpr std::size_t formats = 5, ways = 4, passes = top_add + 1;

  template <class Arguments>
  void launch(std::size_t function, const Arguments& arguments, unsigned blocks, CUstream stream) const;
  [[nodiscard]] unsigned blocks_for(std::size_t wanted) const;

  unsigned most_blocks_ = 1;
  std::array<CUfunction, passes + formats * ways> functions_{};  ///< The passes of top_k, then by format and way.
};

}  // namespace tutti::cuda
