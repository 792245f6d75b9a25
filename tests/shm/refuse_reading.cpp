// Loaded before the system's library (LD_PRELOAD), lets nobody read in another process.
#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>

// The name and the parameters are the system's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" ssize_t process_vm_readv(pid_t /*pid*/, const iovec* /*local*/, unsigned long /*local_count*/,
                                    const iovec* /*remote*/, unsigned long /*remote_count*/,
                                    unsigned long /*flags*/) noexcept {
  errno = EPERM;
  return -1;
}
