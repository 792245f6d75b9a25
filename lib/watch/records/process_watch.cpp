#include "lib/watch/records/process_watch.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "lib/core/memory/above_standard.hpp"
#include "lib/watch/records/process_state.hpp"

namespace tutti::records {
namespace {

/// Linux 5.3 has pidfd_open; headers of older systems know no name for it.
int open_process(pid_t pid) {
  constexpr long pidfd_open = 434;
  return above_standard(static_cast<int>(::syscall(pidfd_open, pid, 0U)));
}

/// PIDFD_GET_INFO of Linux 6.13; the exit status since 6.15. Older kernels refuse it.
struct PidfdInfo {
  std::uint64_t mask = 0, cgroup = 0;
  std::uint32_t ids[12] = {};  // NOLINT(modernize-avoid-c-arrays): as the kernel has it
  std::int32_t exit_code = 0;
};
constexpr std::uint64_t has_exit_code = 1U << 3U;

int signal_told_by(int descriptor) {
  PidfdInfo info{.mask = has_exit_code};
  constexpr unsigned long get_info = _IOWR(0xFF, 11, PidfdInfo);
  if (::ioctl(descriptor, get_info, &info) != 0 || (info.mask & has_exit_code) == 0) return 0;
  return WIFSIGNALED(info.exit_code) ? WTERMSIG(info.exit_code) : 0;
}

}  // namespace

void ProcessWatch::Traits::destroy(Handle& descriptor) noexcept { ::close(descriptor); }

ProcessWatch::ProcessWatch(const Identity& identity) : pid_(identity.pid) {
  if (identity.pid_namespace != own_pid_namespace()) return;
  *descriptor_.receive() = open_process(pid_);
  const bool is_there = descriptor_.get() >= 0;
  if (!is_there && errno != ESRCH) return;  // it cannot be watched
  // The number may be that of a later process.
  was_gone_ = !is_there || process_of(pid_, identity.started).life == Life::dead;
}

bool ProcessWatch::has_ended() const {
  if (was_gone_ || descriptor_.get() < 0) return was_gone_;
  pollfd ended{.fd = descriptor_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, 0) > 0;
}

int ProcessWatch::signal() const {
  const Process process = process_of(pid_);
  if (process.life == Life::dead && process.signal != 0) return process.signal;
  return descriptor_.get() < 0 ? 0 : signal_told_by(descriptor_.get());
}

}  // namespace tutti::records
