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

std::string wrapped(std::string_view text, std::string_view margin, std::size_t width) {
  std::string lines;
  std::size_t used = 0;  // of the line; 0: there is none yet
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (used > 0 && used + 1 + word.size() <= width) {
      lines += fmt::format(" {}", word);
      used += 1 + word.size();
      continue;
    }
    lines += fmt::format("{}{}{}", used > 0 ? "\n" : "", margin, word);
    used = margin.size() + word.size();
  }
  return lines.empty() ? lines : lines + '\n';
}

}  // namespace tutti::tool
