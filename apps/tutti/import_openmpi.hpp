#pragma once
// Open MPI's collectives, as its files of rules number and name them.

#include <optional>
#include <string_view>

#include "apps/tutti/import.hpp"

namespace tutti::tool {

struct OpenMpiCollective {
  int id;
  std::string_view name;
  std::optional<Collective> collective;  ///< Nothing: Tutti has no rules for it.
  std::optional<bool> is_uneven;
  /// The size that its rules go by: bytes of the larger buffer, none, or those of an element times the ranks.
  enum class Size : std::uint8_t { whole, none, of_element };
  Size size = Size::whole;
};
/// nullptr: there is none.
[[nodiscard]] const OpenMpiCollective* find_openmpi(std::int64_t id);
[[nodiscard]] const OpenMpiCollective* find_openmpi(std::string_view name);

/// The end of a rule of Open MPI: its sizes, and its algorithm by number or by name.
struct OpenMpiChoice {
  Range bytes{};
  std::int64_t id = 0;
  std::string_view name{};  ///< Empty: the number counts.
  ForeignNumbers numbers{};
};
/// The rule for a collective, whose conditions on communicators are `when`.
[[nodiscard]] ForeignRule openmpi_rule(const OpenMpiCollective& of, Conditions when, const OpenMpiChoice& its,
                                       int line);

}  // namespace tutti::tool
