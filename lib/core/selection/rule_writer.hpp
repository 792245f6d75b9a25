#pragma once
// Files of rules as text.

#include <string>

#include "lib/core/selection/rule_file.hpp"

namespace tutti {

/// The text of a file of rules, one rule a line: read_rule_file() reads the same file from it, but for the lines of the
/// rules. Bytes that are no UTF-8 become U+FFFD. Cost: linear in the text.
[[nodiscard]] std::string write_rule_file(const RuleFile& file);

}  // namespace tutti
