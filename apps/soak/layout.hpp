#pragma once
// Where the blocks of a call lie in the buffers of one rank, and which elements they have.

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/soak/calls.hpp"

namespace tutti::soak {

/// The blocks of an input or an output. All counts and offsets are elements.
struct Side {
  std::vector<std::int64_t> counts{}, offsets{};
  bool lists_offsets = false;  ///< The call is given the offsets. Else blocks lie side by side.
  std::int64_t extent = 0;     ///< The end of the last block, from the start of the buffer.
  /// Elements in all blocks.
  [[nodiscard]] std::int64_t total() const;
};

struct Layout {
  Side in{}, out{};
  /// In place: where the input starts, in elements from the start of the output; may be negative.
  std::optional<std::int64_t> input_in_output{};
};

/// The buffers of `rank`. Messages: `in` has those that the rank sends, `out` those that it receives, as the call lists
/// them.
[[nodiscard]] Layout layout_of(const Call& call, int rank);

/// One for each block of the output of `rank`. Empty: the output is left alone.
[[nodiscard]] std::vector<bench::Source> sources_of(const Call& call, int rank);

/// What the values of a repetition depend on.
[[nodiscard]] bench::Operands operands_of(const Call& call, int repetition);

}  // namespace tutti::soak
