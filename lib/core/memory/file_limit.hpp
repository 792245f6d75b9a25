#pragma once
// Writing to files that may be full.

#include <cerrno>
#include <csignal>
#include <ctime>

namespace tutti {

/// While one lives, a write of this thread beyond the process's limit for the size of files (RLIMIT_FSIZE) fails with
/// EFBIG, as a full disk does with ENOSPC. SIGXFSZ, which would end the program, does not come.
class FileLimitIsAnError {
 public:
  FileLimitIsAnError() noexcept {
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  FileLimitIsAnError(const FileLimitIsAnError&) = delete;
  FileLimitIsAnError& operator=(const FileLimitIsAnError&) = delete;
  ~FileLimitIsAnError() {
    const int error = errno;  // of the write
    constexpr timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&signal_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t signal_{}, before_{};
  bool was_pending_ = false;
};

}  // namespace tutti
