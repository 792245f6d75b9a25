#include "apps/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "apps/options.hpp"
#include "lib/core/memory/file_limit.hpp"

namespace tutti::apps {

namespace fs = std::filesystem;

namespace {

std::string reason() { return std::generic_category().message(errno); }

/// A file opened for writing under a temporary name; removed again unless it was renamed to its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& beside) : path_(beside.string() + ".XXXXXX"), file_(mkstemp(path_.data())) {
    if (file_ < 0) fail("make");
    // mkstemp lets only the owner read; give the permissions that any new file would have.
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(file_, 0666 & ~mask);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_ >= 0) ::close(file_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void write(std::string_view bytes) {
    const FileLimitIsAnError scope;
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void rename_to(const fs::path& target) {
    // Without fsync a crash of the machine could leave the new name on a file that is still empty.
    if (::fsync(file_) != 0) fail("write");
    if (::rename(path_.c_str(), target.c_str()) != 0) fail("rename");
    renamed_ = true;
  }

 private:
  [[noreturn]] void fail(std::string_view verb) const {
    throw std::runtime_error(fmt::format("cannot {} '{}': {}", verb, path_, reason()));
  }
  std::string path_;
  int file_;
  bool renamed_ = false;
};

}  // namespace

std::string read_file(const std::string& path, std::size_t most) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw InputError(fmt::format("cannot read '{}': it is a folder", path));
  std::ifstream file{path, std::ios::binary};
  if (!file) throw InputError(fmt::format("cannot open '{}': {}", path, reason()));
  constexpr std::size_t piece = std::size_t{1} << 20;
  std::string bytes;
  while (file) {
    const std::size_t before = bytes.size();
    bytes.resize(before + piece);
    file.read(bytes.data() + before, piece);
    bytes.resize(before + static_cast<std::size_t>(file.gcount()));
    if (bytes.size() > most) throw InputError(fmt::format("cannot read '{}': it has more than {} bytes", path, most));
  }
  if (file.bad()) throw InputError(fmt::format("cannot read '{}': {}", path, reason()));
  return bytes;
}

void require_writable(const std::string& path) {
  const auto refuse = [&path](std::string_view why) {
    throw InputError(fmt::format("cannot write '{}': {}", path, why));
  };
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) refuse("it exists and is not a regular file");
  const fs::path folder = fs::absolute(path).parent_path();
  if (!fs::is_directory(folder, ignored)) refuse(fmt::format("there is no folder '{}'", folder.string()));
  if (::access(folder.c_str(), W_OK) != 0) refuse(fmt::format("folder '{}': {}", folder.string(), reason()));
}

void replace_file(const std::string& path, std::string_view bytes) {
  replace_file(path, [bytes](const Append& append) { append(bytes); });
}

void replace_file(const std::string& path, const std::function<void(const Append& append)>& write) {
  constexpr std::size_t most_kept = std::size_t{1} << 20;
  const fs::path target = fs::weakly_canonical(path);  // Writes through a symbolic link, not over it.
  std::error_code ignored;
  if (const fs::path folder = fs::absolute(target).parent_path(); !fs::is_directory(folder, ignored))
    throw std::runtime_error(fmt::format("cannot write '{}': there is no folder '{}'", path, folder.string()));
  TemporaryFile file{target};
  std::string kept;  // of small pieces
  write([&](std::string_view piece) {
    kept += piece;
    if (kept.size() < most_kept) return;
    file.write(kept);
    kept.clear();
  });
  file.write(kept);
  file.rename_to(target);
}

OutputFile::OutputFile(const std::string& option, std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  const bool is_stream = fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored);
  if (is_stream && (stream_ = std::fopen(path_.c_str(), "w")) == nullptr)
    throw InputError(fmt::format("--{}: cannot write '{}': {}", option, path_, reason()));
  try {
    if (!is_stream) require_writable(path_);
  } catch (const InputError& error) {
    throw InputError(fmt::format("--{}: {}", option, error.what()));
  }
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr) std::fclose(stream_);
}

void OutputFile::commit(std::string_view text) {
  if (stream_ == nullptr) return replace_file(path_, text);
  const FileLimitIsAnError scope;
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stream_) == text.size();
  const bool is_closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
  if (!is_written || !is_closed) throw std::runtime_error(fmt::format("cannot write '{}': {}", path_, reason()));
}

}  // namespace tutti::apps
