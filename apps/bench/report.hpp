#pragma once
// The records as JSON and CSV.

#include <span>
#include <string>

#include "apps/bench/machine.hpp"
#include "apps/bench/records.hpp"
#include "apps/json.hpp"

namespace tutti::bench {

/// Parts of such files.
[[nodiscard]] apps::Json to_json(const Spread& spread);
[[nodiscard]] apps::Json to_json(const Machine& machine);
/// As a file has it. Names of files and hosts and the environment need not be UTF-8, but JSON has to be: other bytes
/// become U+FFFD.
[[nodiscard]] std::string to_text(const apps::Json& json);

/// {"environment": {...}, "results": [...], "summary": [...]}; null: not checked, not compared, or not applicable.
[[nodiscard]] apps::Json to_json(const Machine& machine, std::span<const Record> records);
/// The same as a file has it.
[[nodiscard]] std::string json_text(const Machine& machine, std::span<const Record> records);

/// A header line, then a line for each record. Empty fields: not checked, not compared.
[[nodiscard]] std::string to_csv(std::span<const Record> records);

}  // namespace tutti::bench
