#include "apps/bench/progress.hpp"

#include <unistd.h>

#include "apps/standard_output.hpp"

namespace tutti::bench {

namespace {
constexpr std::string_view erase_line = "\r\x1b[K";
}

Progress::Progress(Speaker speaker) : is_shown_(speaker == Speaker::yes && isatty(STDERR_FILENO) == 1) {}

void Progress::show(std::string_view text) const {
  if (is_shown_) apps::print_error("{}{}", erase_line, text);
}

void Progress::clear() const {
  if (is_shown_) apps::print_error("{}", erase_line);
}

}  // namespace tutti::bench
