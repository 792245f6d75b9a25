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
using detail::Named;

static_assert(static_cast<std::size_t>(Compression::top_k) == packed_formats);
constexpr std::int64_t most_block = 65'536;

[[noreturn]] void refuse(std::string_view function, std::string_view argument, const std::string& given,
                         std::string_view allowed) {
  throw ArgumentError(fmt::format("tutti::{}: argument '{}' is {}; allowed: {}", function, argument, given, allowed));
}

bool has_scales(Compression compression) {
  return compression >= Compression::fp8_e4m3 && compression <= Compression::int8;
}

/// `counted`: the argument that has so many elements.
void check(std::string_view function, std::string_view counted, Compression compression, Count count,
           const CompressionOptions& options) {
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
    refuse(function, counted, fmt::format("{} elements", count.value()), fmt::format("0 to {}", most));
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
  const Named values{"out", std::as_bytes(out)}, packed{"in", in};
  const CompressedLayout layout = detail::require_compressed(function, values, packed, compression, options);
  detail::require_apart(function, {packed, values});
  if (compression == Compression::top_k)
    return decompress_top(function, in, out, static_cast<std::size_t>(layout.first) / 4, adds);
  const auto& kernels = low_precision_kernels().decompress[static_cast<std::size_t>(compression)];
  kernels[adds ? 1 : 0](
      {in.data(), in.data() + layout.first, out.data(), out.size(), static_cast<std::size_t>(layout.block)});
}

}  // namespace

namespace detail {

CompressedLayout require_compressed(std::string_view function, const Named& values, const Named& packed,
                                    Compression compression, const CompressionOptions& options) {
  const Count count{values.memory.size() / sizeof(float)};
  check(function, values.name, compression, count, options);
  const CompressedLayout layout = layout_of(compression, count, options);
  if (static_cast<std::int64_t>(packed.memory.size()) != layout.bytes())
    refuse(function, packed.name, fmt::format("{} bytes for {} elements", packed.memory.size(), count.value()),
           fmt::format("{} bytes (compressed_size)", layout.bytes()));
  return layout;
}

void require_as_long(std::span<const float> in, std::span<const float> error) {
  if (!error.empty() && error.size() != in.size())
    refuse("compress", "error", fmt::format("{} elements", error.size()),
           fmt::format("none, or {} as 'in'", in.size()));
}

void require_apart(std::string_view function, std::initializer_list<Named> arguments) {
  const auto share = [](std::span<const std::byte> a, std::span<const std::byte> b) {
    const auto begin = [](const auto& span) { return reinterpret_cast<std::uintptr_t>(span.data()); };
    return !a.empty() && !b.empty() && begin(a) < begin(b) + b.size() && begin(b) < begin(a) + a.size();
  };
  for (const Named* second = arguments.begin(); second != arguments.end(); ++second)
    for (const Named* first = arguments.begin(); first != second; ++first)
      if (share(first->memory, second->memory))
        refuse(function, second->name, fmt::format("memory that argument '{}' has, too", first->name),
               "memory of its own");
}

}  // namespace detail

std::string_view to_string(Compression compression) {
  if (compression > Compression::top_k)
    refuse("to_string", "compression", std::to_string(static_cast<int>(compression)), "a value of enum Compression");
  return compression_names[static_cast<std::size_t>(compression)];
}

Bytes compressed_size(Compression compression, Count count, const CompressionOptions& options) {
  check("compressed_size", "count", compression, count, options);
  return Bytes{layout_of(compression, count, options).bytes()};
}

void compress(Compression compression, std::span<const float> in, std::span<float> error, std::span<std::byte> out,
              const CompressionOptions& options) {
  const Named values{"in", std::as_bytes(in)}, packed{"out", out};
  const CompressedLayout layout = detail::require_compressed("compress", values, packed, compression, options);
  detail::require_as_long(in, error);
  detail::require_apart("compress", {values, {"error", std::as_bytes(error)}, packed});
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
