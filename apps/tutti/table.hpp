#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::tool {

using Cells = std::vector<std::string>;

/// Lines with as many cells each, the columns aligned to the left; every line begins with `margin`.
[[nodiscard]] std::string aligned(const std::vector<Cells>& rows, std::string_view margin);

/// The most that a line of text has, where it can be helped.
inline constexpr std::size_t line_width = 100;
/// The words of a text in lines of at most `width` characters, `margin` included; a longer word has a line of its own.
[[nodiscard]] std::string wrapped(std::string_view text, std::string_view margin, std::size_t width = line_width);

}  // namespace tutti::tool
