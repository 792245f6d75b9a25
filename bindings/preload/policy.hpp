#pragma once
// Which calls Tutti serves, and which it leaves to MPI.

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "bindings/preload/functions.hpp"
#include "bindings/preload/table.hpp"

namespace tutti::interpose {

/// What the user wants: TUTTI_INTERPOSE of rank 0.
struct Wishes {
  enum class Use : std::uint8_t { all, automatic, none, listed };
  Use use = Use::automatic;
  std::bitset<function_count> listed{};
};
/// "all", "auto", "none", or names as "allreduce,bcast". Throws ArgumentError for anything else.
[[nodiscard]] Wishes read_wishes(std::string_view text);

using Served = std::array<ServedBytes, function_count>;  ///< By Function.

/// Whether calls of the function may be served anywhere.
[[nodiscard]] bool wants(const Wishes& wishes, Function function);
/// The functions that are served: by the wishes, and at sizes at which Tutti is faster; reductions at all sizes if
/// their bits are fixed.
[[nodiscard]] Served served_at(const Wishes& wishes, const Placement& placement);

}  // namespace tutti::interpose
