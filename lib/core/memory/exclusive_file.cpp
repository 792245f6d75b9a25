#include "lib/core/memory/exclusive_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/core/memory/above_standard.hpp"
#include "lib/core/memory/file_limit.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

std::string in_words(int error) { return std::generic_category().message(error); }

int open_with_folder(const std::string& path) {
  const std::string folder = std::filesystem::path{path}.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  constexpr int permissions = 0666;
  // Not a pipe, which nobody may read.
  const int file = above_standard(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NONBLOCK, permissions));
  if (file < 0) throw Error(fmt::format("cannot write '{}': {}", path, in_words(errno)));
  return file;
}

bool is_empty_file(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0;
}

}  // namespace

ExclusiveFile::ExclusiveFile(std::string path) : path_(std::move(path)), descriptor_(open_with_folder(path_)) {
  // Where the file system has no locks, nobody is kept out.
  if (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw Error(
      fmt::format("cannot write '{}': another process writes it, or another copy of Tutti in this one; programs that "
                  "run at the same time need folders of their own",
                  path_));
}

void ExclusiveFile::begin(const void* header, std::size_t bytes) {
  const bool is_cut = ::ftruncate(descriptor_.number(), 0) == 0;
  error_ = errno;
  if ((is_cut || error_ == EINVAL) && write(header, bytes))
    return;  // a device cannot be cut: the write says what it is
  const std::string why = why_not();
  cut(0);
  throw Error(fmt::format("cannot write '{}': {}", path_, why));
}

bool ExclusiveFile::write(const void* data, std::size_t bytes) noexcept {
  const FileLimitIsAnError scope;
  const auto* at = static_cast<const std::byte*>(data);
  const std::byte* const end = at + bytes;
  while (at < end && descriptor_.is_there()) {
    const ssize_t done = ::write(descriptor_.number(), at, static_cast<std::size_t>(end - at));
    if (done < 0 && errno == EINTR) continue;
    error_ = done == 0 ? EIO : errno;
    if (done <= 0) break;
    at += done;
    bytes_ += done;
  }
  return at == end;
}

std::string ExclusiveFile::why_not() const {
  return descriptor_.is_there() ? in_words(error_) : "the program has closed its descriptor";
}

void ExclusiveFile::cut(std::int64_t bytes) noexcept {
  if (!descriptor_.is_there()) return;
  static_cast<void>(::ftruncate(descriptor_.number(), bytes));
  static_cast<void>(::lseek(descriptor_.number(), bytes, SEEK_SET));
  bytes_ = bytes;
}

void ExclusiveFile::withdraw() noexcept {
  if (is_open()) cut(0);
  close();
}

void ExclusiveFile::close() noexcept {
  if (process_.is_this() && descriptor_.is_there() && is_empty_file(descriptor_.number())) ::unlink(path_.c_str());
  descriptor_.close();
  bytes_ = 0;
}

}  // namespace tutti
