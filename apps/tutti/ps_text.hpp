#pragma once
// The result of `tutti ps`, for people and for programs.

#include <string>

#include "apps/tutti/ps_survey.hpp"

namespace tutti::tool {

/// `now`: CLOCK_MONOTONIC in ns.
[[nodiscard]] std::string to_text(const PsSurvey& survey, std::int64_t now);
/// docs/diagnosis.md describes it.
[[nodiscard]] std::string to_json(const PsSurvey& survey, std::int64_t now);

}  // namespace tutti::tool
