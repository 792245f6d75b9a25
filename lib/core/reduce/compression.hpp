#pragma once
// What compression on hosts and on devices has in common: where bytes are, and which arguments are refused.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tutti/compression.hpp"

namespace tutti::detail {

/// How compressed bytes are cut: scales, or places, come first. `block`: as CompressArguments has it.
struct CompressedLayout {
  std::int64_t first = 0, rest = 0, block = 0;
  [[nodiscard]] std::int64_t bytes() const { return first + rest; }
};

/// The layout of `count` floats. ArgumentError if there are other than its bytes, or for options that are not allowed.
[[nodiscard]] CompressedLayout require_compressed(std::string_view function, std::string_view argument,
                                                  Compression compression, std::size_t count, std::size_t bytes,
                                                  const CompressionOptions& options);
/// ArgumentError if the arguments of compress() share memory, or if `error` has another length than `in`. The memory is
/// not read.
void require_apart(std::span<const float> in, std::span<const float> error, std::span<const std::byte> out);

}  // namespace tutti::detail
