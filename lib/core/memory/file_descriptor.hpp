#pragma once
// Descriptors in a program that may close them.

#include <sys/types.h>

namespace tutti {

/// Owns a descriptor. A program may close descriptors that are not its own, and open other files, which then have the
/// same numbers: only while is_there() is true is this one still that of the file for which it was opened.
class FileDescriptor {
 public:
  /// Takes over `number`. -1: no file.
  explicit FileDescriptor(int number) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] bool is_there() const noexcept;
  /// Whether both were opened for one file.
  [[nodiscard]] bool is_of_file_of(const FileDescriptor& other) const noexcept { return file_ == other.file_; }
  /// Leaves the program's own files alone.
  void close() noexcept;

 private:
  struct File {
    ::dev_t device = 0;
    ::ino_t inode = 0;
    bool operator==(const File&) const = default;
  };
  [[nodiscard]] static bool find(int number, File& file) noexcept;

  int number_;
  File file_{};
};

}  // namespace tutti
