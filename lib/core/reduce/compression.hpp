#pragma once
// What compression on hosts and on devices has in common: where bytes are, and which arguments are refused.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "tutti/compression.hpp"

namespace tutti::detail {

/// How compressed bytes are cut: scales, or places, come first. `block`: as CompressArguments has it.
struct CompressedLayout {
  std::int64_t first = 0, rest = 0, block = 0;
  [[nodiscard]] std::int64_t bytes() const { return first + rest; }
};

/// An argument of a function: its name and its memory, which is not read.
struct Named {
  std::string_view name;
  std::span<const std::byte> memory;
};
/// The layout of so many floats as `values` has. ArgumentError if there are other bytes than its own in `packed`, or
/// for options that are not allowed.
[[nodiscard]] CompressedLayout require_compressed(std::string_view function, const Named& values, const Named& packed,
                                                  Compression compression, const CompressionOptions& options);
/// ArgumentError if `error` has another length than `in`, and is not empty.
void require_as_long(std::span<const float> in, std::span<const float> error);
/// ArgumentError if arguments share memory.
void require_apart(std::string_view function, std::initializer_list<Named> arguments);

}  // namespace tutti::detail
