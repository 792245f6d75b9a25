#pragma once
// An algorithm and how it is to be used, as users write it.

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/algorithm.hpp"

namespace tutti {

/// "ring", "dissemination:4" (with its parameter), "chain/64K" (pipelined: messages cut into segments of that size),
/// "knomial:4/8K".
struct Choice {
  const Algorithm* algorithm = nullptr;
  int parameter = 0;         ///< The algorithm's; 0 if it has none.
  std::int64_t segment = 0;  ///< In bytes, or in elements where there is no type; 0: whole messages.
  bool operator==(const Choice&) const = default;
};

/// Reads a choice. Throws std::invalid_argument that says what is allowed: the names that serve the collective, and
/// which of them look like the one given.
[[nodiscard]] Choice read_choice(Collective collective, std::string_view text);
/// The text that read_choice() reads.
[[nodiscard]] std::string to_text(const Choice& choice);

}  // namespace tutti
