#pragma once
// Descriptors of the library beside those of the program.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tutti {

/// Gives a file a number above those of standard input, output and error: a program may have closed these, and
/// what it prints would go to a file of ours that has such a number. Takes over `descriptor`. -1, with errno: there was
/// none, or there is no room for another.
inline int above_standard(int descriptor) noexcept {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return moved;
}

}  // namespace tutti
