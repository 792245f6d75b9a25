#include "apps/standard_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "lib/core/memory/file_limit.hpp"

namespace tutti::apps {

namespace {

/// The errno of the first write to stdout that failed; 0: none did.
int& first_error() {
  static int error = 0;
  return error;
}

void note(bool is_success) {
  if (!is_success && first_error() == 0) first_error() = errno == 0 ? EIO : errno;
}

}  // namespace

void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest number that is free is this one. Opened the other way round: to use it is an error, as it was
    // before.
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void print(std::string_view text) {
  const FileLimitIsAnError scope;
  errno = 0;
  note(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

bool flush_output() {
  const FileLimitIsAnError scope;
  errno = 0;
  note(std::fflush(stdout) == 0 && std::ferror(stdout) == 0);
  return first_error() == 0;
}

int exit_code_after_output(std::string_view program, int code) {
  flush_output();
  if (first_error() == 0) return code;
  print_error("{}: cannot write to standard output: {}\n", program, std::generic_category().message(first_error()));
  return code == exit_success ? exit_failure : code;
}

}  // namespace tutti::apps
