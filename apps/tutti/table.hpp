#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::tool {

using Cells = std::vector<std::string>;

/// Lines with as many cells each, the columns aligned to the left; every line begins with `margin`.
[[nodiscard]] std::string aligned(const std::vector<Cells>& rows, std::string_view margin);

}  // namespace tutti::tool
