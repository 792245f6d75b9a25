#include "lib/device/driver/compression_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {
namespace {

constexpr unsigned threads = 256;
constexpr std::array ways_of_formats{"compress", "compress_stochastic", "decompress", "decompress_add"};
constexpr std::array passes_of_top{"begin", "count", "choose", "tally", "place", "clear", "put", "add"};

bool is_aligned(const void* data, std::size_t bytes) { return address(data) % bytes == 0; }

/// Four elements at a time.
template <class Call, class... Floats>
bool is_wide(Compression format, const Call& call, const Floats*... floats) {
  const bool has_blocks = format != Compression::bf16 && format != Compression::fp16;
  constexpr std::size_t width = 4;
  return (is_aligned(floats, width * sizeof(float)) && ...) &&
         is_aligned(call.elements, has_blocks ? width : 2 * width) && (!has_blocks || call.block % width == 0);
}

}  // namespace

void CompressionKernels::find(CUmodule module, unsigned most_blocks) {
  static_assert(ways_of_formats.size() == ways && passes_of_top.size() == passes);
  most_blocks_ = most_blocks;
  const auto find = [&](std::size_t index, const std::string& name) {
    check(driver()->ModuleGetFunction(&functions_[index], module, name.c_str()), "cuModuleGetFunction");
  };
  for (std::size_t pass = 0; pass < passes; ++pass)
    find(pass, fmt::format("tutti_top_{}", passes_of_top[pass]));
  for (std::size_t format = 0; format < formats; ++format)
    for (std::size_t way = 0; way < ways; ++way)
      find(passes + format * ways + way,
           fmt::format("tutti_{}_{}", ways_of_formats[way], to_string(static_cast<Compression>(format))));
}

template <class Arguments>
void CompressionKernels::launch(std::size_t function, const Arguments& arguments, unsigned blocks,
                                CUstream stream) const {
  Arguments copy = arguments;
  void* parameters[] = {&copy};
  check(driver()->LaunchKernel(functions_[function], blocks, 1, 1, threads, 1, 1, 0, stream, parameters, nullptr),
        "cuLaunchKernel");
}

unsigned CompressionKernels::blocks_for(std::size_t wanted) const {
  return static_cast<unsigned>(std::clamp<std::size_t>((wanted + threads - 1) / threads, 1, most_blocks_));
}

void CompressionKernels::compress(Compression format, Rounding rounding, const CompressArguments& call,
                                  CUstream stream) const {
  if (call.count == 0) return;
  const CompressLaunch arguments{
      call, call.error == nullptr ? is_wide(format, call, call.in) : is_wide(format, call, call.in, call.error)};
  const std::size_t way = rounding == Rounding::stochastic ? 1 : 0;
  launch(passes + static_cast<std::size_t>(format) * ways + way, arguments,
         blocks_for(arguments.is_wide ? (call.count + 3) / 4 : call.count), stream);
}

void CompressionKernels::compress_top(const CompressArguments& call, TopState* state, CUstream stream) const {
  if (call.count == 0) return;
  const unsigned blocks = std::min(blocks_for(call.count), most_chunks);
  TopArguments arguments{call, state, 0, 0};
  launch(top_begin, arguments, blocks, stream);
  // 31 bits of magnitudes, from the first.
  constexpr std::array<std::array<std::uint32_t, 2>, 3> digits{{{20, 11}, {10, 10}, {0, 10}}};
  for (const auto& [shift, width] : digits) {
    arguments.shift = shift, arguments.width = width;
    launch(top_count, arguments, blocks, stream);
    launch(top_choose, arguments, 1, stream);
  }
  launch(top_tally, arguments, blocks, stream);
  launch(top_place, arguments, blocks, stream);
}

void CompressionKernels::decompress(Compression compression, bool adds, const DecompressArguments& call,
                                    CUstream stream) const {
  if (call.count == 0) return;
  if (compression == Compression::top_k) {
    if (!adds) launch(top_clear, call, blocks_for(call.count), stream);
    return launch(adds ? top_add : top_put, call, blocks_for(call.block), stream);
  }
  const DecompressLaunch arguments{call, is_wide(compression, call, call.out)};
  launch(passes + static_cast<std::size_t>(compression) * ways + (adds ? 3 : 2), arguments,
         blocks_for(arguments.is_wide ? (call.count + 3) / 4 : call.count), stream);
}

}  // namespace tutti::cuda
