#include "tutti/compression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "lib/core/reduce/compression.hpp"
#include "lib/core/reduce/low_precision_kernels.hpp"
#include "lib/core/reduce/top_k.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

using detail::CompressedLayout;
using detail::require_apart;
using detail::require_compressed;

static_assert(static_cast<std::size_t>(Compression::top_k) == packed_formats);
constexpr std::int64_t most_block = 65'536;

[[noreturn]] void refuse(std::string_view function, std::string_view argument, const std::string& given,
                         std::string_view allowed) {
  throw ArgumentError(fmt::format("tutti::{}: argument '{}' is {}; allowed: {}", function, argument, given, allowed));
}

bool has_scales(Compression compression) {
  return compression >= Compression::fp8_e4m3 && compression <= Compression::int8;
}

void check(std::string_view function, Compression compression, Count count, const CompressionOptions& options) {
  if (compression > Compression::top_k)
    refuse(function, "compression", std::to_string(static_cast<int>(compression)), "a value of enum Compression");
  if (options.rounding > Rounding::stochastic)
    refuse(function, "rounding", std::to_string(static_cast<int>(options.rounding)), "a value of enum Rounding");
  if (options.block < Count{1} || options.block > Count{most_block})
    refuse(function, "block", std::to_string(options.block.value()), fmt::format("1 to {}", most_block));
  if (!(options.keep > 0 && options.keep <= 1))
    refuse(function, "keep", fmt::format("{}", options.keep), "above 0, at most 1");
  const std::int64_t most = compression == Compression::top_k ? std::numeric_limits<std::uint32_t>::max()
                                                              : std::numeric_limits<std::int64_t>::max() / 8;
  if (count < Count{0} || count > Count{most})
    refuse(function, "count", std::to_string(count.value()), fmt::format("0 to {}", most));
}

CompressedLayout layout_of(Compression compression, Count count, const CompressionOptions& options) {
  const std::int64_t n = count.value();
  if (compression == Compression::top_k) {
    const auto wanted = static_cast<std::int64_t>(std::ceil(options.keep * static_cast<double>(n)));
    const std::int64_t kept = n == 0 ? 0 : std::clamp<std::int64_t>(wanted, 1, n);
    return {4 * kept, 4 * kept, kept};
  }
  const std::int64_t block = options.block.value();
  if (!has_scales(compression)) return {0, 2 * n, block};
  return {4 * (n / block + (n % block == 0 ? 0 : 1)), n, block};
}

/// error = in + error; what is sent leaves it, and so does what is not finite.
void compress_top(std::span<const float> in, std::span<float> error, std::byte* out, std::size_t kept) {
  if (error.empty()) return select_top(in, kept, out);
  for (std::size_t i = 0; i < in.size(); ++i)
    error[i] += in[i];
  select_top(error, kept, out);
  for (std::size_t i = 0; i < kept; ++i)
    error[selected(out, kept, i).place] = 0;
  for (float& rest : error)
    rest = rest - rest == 0 ? rest : 0;
}

void decompress_top(std::string_view function, std::span<const std::byte> in, std::span<float> out, std::size_t kept,
                    bool adds) {
  std::uint64_t least = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    const std::uint32_t place = selected(in.data(), kept, i).place;
    if (place < least || place >= out.size())
      refuse(function, "in", fmt::format("bytes with the place {}", place),
             fmt::format("what compress() gives for {} elements, places that rise", out.size()));
    least = std::uint64_t{place} + 1;
  }
  if (!adds) std::ranges::fill(out, 0.0F);
  for (std::size_t i = 0; i < kept; ++i) {
    const Selected its = selected(in.data(), kept, i);
    out[its.place] = adds ? out[its.place] + its.value : its.value;
  }
}

void decompress_as(std::string_view function, Compression compression, std::span<const std::byte> in,
                   std::span<float> out, const CompressionOptions& options, bool adds) {
  const CompressedLayout layout = require_compressed(function, "in", compression, out.size(), in.size(), options);
  if (compression == Compression::top_k)
    return decompress_top(function, in, out, static_cast<std::size_t>(layout.first) / 4, adds);
  const auto& kernels = low_precision_kernels().decompress[static_cast<std::size_t>(compression)];
  kernels[adds ? 1 : 0](
      {in.data(), in.data() + layout.first, out.data(), out.size(), static_cast<std::size_t>(layout.block)});
}

}  // namespace

namespace detail {

CompressedLayout require_compressed(std::string_view function, std::string_view argument, Compression compression,
                                    std::size_t count, std::size_t bytes, const CompressionOptions& options) {
  check(function, compression, Count{count}, options);
  const CompressedLayout layout = layout_of(compression, Count{count}, options);
  if (static_cast<std::int64_t>(bytes) != layout.bytes())
    refuse(function, argument, fmt::format("{} bytes for {} elements", bytes, count),
           fmt::format("{} bytes (compressed_size)", layout.bytes()));
  return layout;
}

void require_apart(std::span<const float> in, std::span<const float> error, std::span<const std::byte> out) {
  if (!error.empty() && error.size() != in.size())
    refuse("compress", "error", fmt::format("{} elements", error.size()),
           fmt::format("none, or {} as 'in'", in.size()));
  const auto share = [](const auto& a, const auto& b) {
    const auto begin = [](const auto& span) { return reinterpret_cast<std::uintptr_t>(span.data()); };
    return !a.empty() && !b.empty() && begin(a) < begin(b) + b.size_bytes() && begin(b) < begin(a) + a.size_bytes();
  };
  if (share(in, error) || share(in, out) || share(error, out))
    refuse("compress", "error", "memory that it, 'in' or 'out' share", "memory of their own");
}

}  // namespace detail

std::string_view to_string(Compression compression) {
  if (compression > Compression::top_k)
    refuse("to_string", "compression", std::to_string(static_cast<int>(compression)), "a value of enum Compression");
  return compression_names[static_cast<std::size_t>(compression)];
}

Bytes compressed_size(Compression compression, Count count, const CompressionOptions& options) {
  check("compressed_size", compression, count, options);
  return Bytes{layout_of(compression, count, options).bytes()};
}

void compress(Compression compression, std::span<const float> in, std::span<float> error, std::span<std::byte> out,
              const CompressionOptions& options) {
  const CompressedLayout layout = require_compressed("compress", "out", compression, in.size(), out.size(), options);
  require_apart(in, error, out);
  if (compression == Compression::top_k)
    return compress_top(in, error, out.data(), static_cast<std::size_t>(layout.first) / 4);
  const auto& kernels = low_precision_kernels().compress[static_cast<std::size_t>(compression)];
  kernels[options.rounding == Rounding::stochastic ? 1 : 0]({in.data(), error.empty() ? nullptr : error.data(),
                                                             out.data(), out.data() + layout.first, in.size(),
                                                             static_cast<std::size_t>(layout.block)});
}

void decompress(Compression compression, std::span<const std::byte> in, std::span<float> out,
                const CompressionOptions& options) {
  decompress_as("decompress", compression, in, out, options, false);
}

void decompress_add(Compression compression, std::span<const std::byte> in, std::span<float> out,
                    const CompressionOptions& options) {
  decompress_as("decompress_add", compression, in, out, options, true);
}

}  // namespace tutti
