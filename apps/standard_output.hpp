#pragma once
// Exit codes, and output of the apps to stdout: it either arrives, or the program says that it did not and ends with an
// error.

#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <utility>

namespace tutti::apps {

// How the apps end.
inline constexpr int exit_success = 0;
inline constexpr int exit_failure = 1;    ///< Something failed at run time.
inline constexpr int exit_bad_input = 2;  ///< Command line or files that the program cannot use.

/// First of all in main(), before MPI or anything else opens files: a file that got the number of a closed stdout would
/// receive the output meant for it. Afterwards writing to a closed stream fails.
void reserve_standard_streams();

/// Writes to stdout. Does not throw, so that no computed or measured result is lost: exit_code_after_output() reports a
/// failure.
void print(std::string_view text);
template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
  print(std::string_view{fmt::format(format, std::forward<Values>(values)...)});
}
/// Writes to stderr, as far as that can be written.
template <class... Values>
void print_error(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(fmt::format(format, std::forward<Values>(values)...).c_str(), stderr);
}
/// Makes the output so far arrive now: somebody may be waiting for it. Does not throw either. Whether all has arrived.
bool flush_output();

/// Last of all in main(): makes all output arrive. Returns `code`, the program's own exit code; if something did not
/// arrive, says so on stderr, and returns exit_failure in place of exit_success.
[[nodiscard]] int exit_code_after_output(std::string_view program, int code);

}  // namespace tutti::apps
