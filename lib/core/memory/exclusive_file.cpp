#include "lib/core/memory/exclusive_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "lib/core/memory/above_standard.hpp"
#include "lib/core/memory/file_limit.hpp"
#include "tutti/error.hpp"

namespace tutti {

int open_exclusively(const std::string& path) {
  const std::string folder = std::filesystem::path{path}.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  constexpr int permissions = 0666;
  // Not a pipe, which nobody may read.
  const int file = above_standard(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NONBLOCK, permissions));
  if (file < 0) throw Error(fmt::format("cannot write '{}': {}", path, std::generic_category().message(errno)));
  // Where the file system has no locks, nobody is kept out.
  if (::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return file;
  ::close(file);
  throw Error(
      fmt::format("cannot write '{}': another process writes it, or another copy of Tutti in this one; programs that "
                  "run at the same "
                  "time need folders of their own",
                  path));
}

FileIdentity::FileIdentity(int file) {
  struct stat facts {};
  if (::fstat(file, &facts) != 0) return;
  is_open_ = true;
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
}

std::size_t write_all(int file, const void* data, std::size_t bytes) noexcept {
  const FileLimitIsAnError scope;
  std::size_t written = 0;
  while (written < bytes) {
    const ssize_t done = ::write(file, static_cast<const std::byte*>(data) + written, bytes - written);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      if (done == 0) errno = EIO;
      break;
    }
    written += static_cast<std::size_t>(done);
  }
  return written;
}

}  // namespace tutti
