#pragma once
// An algorithm and how it is to be used, as users write it.

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/algorithm.hpp"

namespace tutti {

/// "ring", "dissemination:4" (with its parameter), "chain/64K" (pipelined: messages cut into segments of that size),
/// "knomial:4/8K", "file:ring8.json" (the schedules of a file).
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

/// What names of files begin with: "file:".
inline constexpr std::string_view file_prefix = "file:";
/// The algorithm that stands for the schedules of a file, "file:PATH", until a communicator has read it: it has a name,
/// but no schedules. The same one for the same name and collective; it lives as long as the process.
[[nodiscard]] const Algorithm* named_file(Collective collective, std::string_view name);
/// Whether an algorithm only stands for a file.
[[nodiscard]] bool is_named_file(const Algorithm& algorithm);

}  // namespace tutti
