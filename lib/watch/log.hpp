#pragma once
// What this process tells its users: on stderr, or in the file that TUTTI_LOG_FILE names.

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::log {

enum class Level : std::uint8_t { warn, info, debug };

/// TUTTI_LOG of this process: warn (the default), info or debug; 0 and 1 mean the first two. Throws ArgumentError for
/// anything else.
[[nodiscard]] Level read_level();
/// The level; a value that is not allowed counts as warn.
[[nodiscard]] Level level() noexcept;
[[nodiscard]] inline bool is_on(Level wanted) noexcept { return wanted <= level(); }

/// The name of the log's file, from TUTTI_LOG_FILE: %h is the host, %p the process, %% a percent sign. Throws
/// ArgumentError for another letter.
[[nodiscard]] std::string expand_file_name(std::string_view pattern);
/// Opens the file, if one is wanted. Throws ArgumentError if it cannot be written. Once; write() does it, too.
void open();

/// A line for each line of the text, "tutti: " in front, if the level, `its`, is on. `who`: "rank 3, communicator 0 (8
/// ranks)"; empty: nobody.
void write(Level its, std::string_view who, std::string_view text) noexcept;
/// Writes the lines to stderr and, if there is one, to the file: for reports that users must not miss.
void report(std::string_view who, std::string_view text) noexcept;

}  // namespace tutti::log
