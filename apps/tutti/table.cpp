#include "apps/tutti/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::tool {

std::string aligned(const std::vector<Cells>& rows, std::string_view margin) {
  std::vector<std::size_t> widths;
  for (const Cells& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  std::string text;
  for (const Cells& row : rows) {
    text += margin;
    for (std::size_t column = 0; column < row.size(); ++column)
      text += fmt::format("{:<{}}", row[column], column + 1 < row.size() ? widths[column] + 2 : 0);
    text.resize(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace tutti::tool
