#include "lib/watch/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>

#include "lib/core/communicator/variables.hpp"
#include "lib/core/memory/above_standard.hpp"
#include "lib/core/memory/file_limit.hpp"
#include "tutti/error.hpp"

namespace tutti::log {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

const char* wanted_file() {
  const char* const pattern = std::getenv("TUTTI_LOG_FILE");
  return pattern == nullptr || *pattern == '\0' ? nullptr : pattern;
}

/// Null: none is wanted.
File open_file() {
  const char* const pattern = wanted_file();
  if (pattern == nullptr) return nullptr;
  const std::string name = expand_file_name(pattern);
  constexpr int permissions = 0666;
  const int descriptor = above_standard(::open(name.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, permissions));
  File file{descriptor < 0 ? nullptr : ::fdopen(descriptor, "a")};
  if (file == nullptr)
    throw ArgumentError(
        fmt::format("environment variable TUTTI_LOG_FILE is '{}': '{}' cannot be written: {}; allowed: "
                    "a file in a folder that is there, with %h for the host and %p for the process",
                    pattern, name, std::generic_category().message(errno)));
  return file;
}

/// Never closed by itself: every line is flushed, and the last ones come from the destructors of other objects.
File& file() {
  static auto* const opened = new File{open_file()};
  return *opened;
}

std::string with_prefix(std::string_view who, std::string_view text) {
  std::string lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += fmt::format("tutti: {}{}{}\n", who, who.empty() ? "" : ": ", text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// One call of the C library, so that lines of several ranks do not mix.
void put(std::FILE* where, const std::string& lines) {
  const FileLimitIsAnError scope;
  std::fwrite(lines.data(), 1, lines.size(), where);
  std::fflush(where);
}

}  // namespace

Level read_level() {
  constexpr std::array<Level, 5> levels{Level::warn, Level::info, Level::debug, Level::warn, Level::info};
  return levels.at(name_setting("TUTTI_LOG"));
}

Level level() noexcept {
  static const Level known = [] {
    try {
      return read_level();
    } catch (const std::exception&) {
      return Level::warn;
    }
  }();
  return known;
}

std::string expand_file_name(std::string_view pattern) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      name += pattern[i];
      continue;
    }
    const char letter = ++i < pattern.size() ? pattern[i] : '\0';
    if (letter == 'h')
      name += host_name();
    else if (letter == 'p')
      name += std::to_string(::getpid());
    else if (letter == '%')
      name += '%';
    else
      throw ArgumentError(
          fmt::format("environment variable TUTTI_LOG_FILE is '{}'; allowed behind a percent sign: h (the host), p "
                      "(the process), %",
                      pattern));
  }
  return name;
}

void open() { static_cast<void>(file()); }

void write(Level its, std::string_view who, std::string_view text) noexcept {
  if (!is_on(its)) return;
  try {
    std::FILE* const into = file() == nullptr ? stderr : file().get();
    put(into, with_prefix(who, text));
  } catch (const std::exception&) {  // the file, or no memory: there is nobody to tell
  }
}

void report(std::string_view who, std::string_view text) noexcept {
  try {
    const std::string lines = with_prefix(who, text);
    put(stderr, lines);
    if (file() != nullptr) put(file().get(), lines);
  } catch (const std::exception&) {
  }
}

}  // namespace tutti::log
