#pragma once
// All results of a run as a file.

#include <span>
#include <string>

#include "apps/bench/machine.hpp"
#include "apps/bench/records.hpp"
#include "apps/json.hpp"

namespace tutti::bench {

/// {"environment": {...}, "results": [...], "summary": [...], "best": [...]}: docs/bench.md describes it.
[[nodiscard]] apps::Json to_json(const Machine& machine, std::span<const Record> records);
/// The text of a file with these results.
[[nodiscard]] std::string json_text(const Machine& machine, std::span<const Record> records);

}  // namespace tutti::bench
