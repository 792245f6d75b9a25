#pragma once
// A file that one process writes, and no other.

#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/core/memory/file_descriptor.hpp"
#include "lib/core/memory/own_process.hpp"

namespace tutti {

/// While one lives, no other process has one of the same file, where the file system has locks. What was in the file
/// stays until begin(). A file that is empty when it is closed is removed.
class ExclusiveFile {
 public:
  /// Makes the file and its folder if need be. Throws Error.
  explicit ExclusiveFile(std::string path);
  ExclusiveFile(const ExclusiveFile&) = delete;
  ExclusiveFile& operator=(const ExclusiveFile&) = delete;
  ~ExclusiveFile() { close(); }

  /// The file has these bytes alone. Throws Error.
  void begin(const void* header, std::size_t bytes);
  /// Between begin() and the end. Never in a child of a fork, whose copy of this object writes nothing.
  [[nodiscard]] bool is_open() const noexcept { return bytes_ > 0 && process_.is_this(); }
  /// Adds bytes at the end. False: not all of them, for the reason that why_not() tells.
  [[nodiscard]] bool write(const void* data, std::size_t bytes) noexcept;
  [[nodiscard]] std::string why_not() const;
  /// The file keeps so many bytes.
  void cut(std::int64_t bytes) noexcept;
  /// The program has nothing to write after all.
  void withdraw() noexcept;
  void close() noexcept;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] const FileDescriptor& descriptor() const { return descriptor_; }

 private:
  std::string path_;
  FileDescriptor descriptor_;
  OwnProcess process_;
  std::int64_t bytes_ = 0;  ///< That were written.
  int error_ = 0;
};

}  // namespace tutti
