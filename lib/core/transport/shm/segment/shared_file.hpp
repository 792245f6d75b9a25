#pragma once
// Memory that has no name: a file that exists only as descriptors and mappings. The last process that lets go of it
// frees it, no matter how that process ends.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/core/memory/own_process.hpp"
#include "lib/core/memory/unique_handle.hpp"
#include "tutti/error.hpp"

namespace tutti::shm {

struct DescriptorTraits {
  using Handle = int;
  static Handle null() { return -1; }
  static void destroy(Handle& descriptor) noexcept { ::close(descriptor); }
};
using Descriptor = UniqueHandle<DescriptorTraits>;

/// The error of a system call that has just set errno: "CALL: its text".
[[nodiscard]] Error system_error(std::string_view call);

/// Smallest amount that can be mapped, in bytes; the machine's.
[[nodiscard]] std::int64_t page_bytes();

/// A window of memory that other processes see as well; unmapped when it dies. It may outlive the file that it maps.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* data, std::int64_t bytes) : data_(data), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  /// Lets this process access a part that was mapped without; whole pages. Throws Error.
  void open(std::int64_t offset, std::int64_t bytes);
  /// Null if nothing is mapped.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// A file that is used as memory, of a fixed number of bytes. Errors name `rank`.
class SharedFile {
 public:
  SharedFile() = default;
  /// Takes an open file of at least `bytes` bytes; throws Error if it is no regular file of that size.
  SharedFile(Descriptor descriptor, std::int64_t bytes, int rank);
  /// Makes one without a name, all zero, that takes no memory before it is written or reserved. Throws Error, also
  /// where the limit of the process for the size of files would be exceeded (without the signal that this brings).
  static SharedFile make(std::int64_t bytes, int rank);

  [[nodiscard]] bool is_open() const { return descriptor_.get() >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// See Segment.
  [[nodiscard]] Mapping map(std::int64_t offset, std::int64_t bytes) const;
  [[nodiscard]] Mapping map_closed(std::int64_t offset, std::int64_t bytes) const;
  void reserve(std::int64_t offset, std::int64_t bytes) const;
  void release(std::int64_t offset, std::int64_t bytes) const noexcept;

 private:
  [[nodiscard]] Mapping map_as(int protection, int flags, std::int64_t offset, std::int64_t bytes) const;
  void require_within(std::string_view call, std::int64_t offset, std::int64_t bytes) const;

  Descriptor descriptor_;
  std::int64_t bytes_ = 0;
  int rank_ = 0;
  OwnProcess process_;
};

}  // namespace tutti::shm
