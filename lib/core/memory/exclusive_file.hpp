#pragma once
// Files that one process writes, and no other.

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace tutti {

/// Opens the file for writing, and makes it and its folder if need be. Another process cannot open it so until its
/// descriptor is closed, where the file system has locks. Throws Error.
[[nodiscard]] int open_exclusively(const std::string& path);

/// Which file a descriptor was opened for. A program may close descriptors that are not its own, and open other files,
/// which then have the same numbers.
class FileIdentity {
 public:
  FileIdentity() = default;
  explicit FileIdentity(int file);
  [[nodiscard]] bool is_of(int file) const { return *this == FileIdentity{file}; }
  friend bool operator==(const FileIdentity& a, const FileIdentity& b) {
    return a.is_open_ && b.is_open_ && a.device_ == b.device_ && a.inode_ == b.inode_;
  }

 private:
  bool is_open_ = false;
  ::dev_t device_ = 0;
  ::ino_t inode_ = 0;
};

/// Writes all bytes; returns how many were written, and says in errno why not all.
[[nodiscard]] std::size_t write_all(int file, const void* data, std::size_t bytes) noexcept;

}  // namespace tutti
