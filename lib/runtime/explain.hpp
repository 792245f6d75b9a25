#pragma once
// Plans in words.

#include <string>

namespace tutti::detail {

class Operation;

[[nodiscard]] std::string explain(const Operation& operation);

}  // namespace tutti::detail
