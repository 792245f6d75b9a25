#pragma once
// The choices that a user made, in place of Tutti's own.

#include <array>
#include <string_view>

#include "lib/core/schedule/choice.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// The choice for each collective; no algorithm: Tutti chooses.
using Choices = std::array<Choice, collective_count>;
/// Reads "ring" (for every collective that has an algorithm of that name), "allreduce=ring,broadcast=chain/64K".
/// Throws ArgumentError that starts with `source`: "environment variable TUTTI_ALGORITHM".
[[nodiscard]] Choices read_choices(std::string_view text, std::string_view source);

/// Choices, and where each comes from: "TUTTI_ALGORITHM".
struct UserChoices {
  Choices choices{};
  std::array<const char*, collective_count> chosen_by{};
};

}  // namespace tutti
