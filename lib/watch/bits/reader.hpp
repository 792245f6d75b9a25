#pragma once
// Reads files of bits, a record at a time: for comparison while a program runs, and for `tutti bits`.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/core/memory/file_descriptor.hpp"
#include "lib/watch/bits/format.hpp"
#include "tutti/error.hpp"

namespace tutti::bits {

/// A file that cannot be read, is of something else, or is damaged. The text names it, and the byte.
class FileError : public Error {
 public:
  using Error::Error;
};

/// A call's record, and where its data begin in the file.
struct StoredCall {
  CallRecord record{};
  std::int64_t data_at = 0;
};

class Reader {
 public:
  /// Throws FileError unless this is a file of bits.
  explicit Reader(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const FileDescriptor& descriptor() const { return file_; }
  [[nodiscard]] const FileHeader& header() const { return header_; }
  /// The communicators that came so far, by number.
  [[nodiscard]] const std::vector<CommunicatorRecord>& communicators() const { return communicators_; }
  /// The next call that begins or is over; nothing at the end. Throws FileError for a damaged file.
  [[nodiscard]] std::optional<StoredCall> next();
  /// Whether the file ended as the program did; a program that was killed leaves a file that does not.
  [[nodiscard]] bool is_closed() const { return end_.has_value(); }
  /// Data of a call, from the byte `from` on. Throws FileError.
  void read_data(const StoredCall& call, std::int64_t from, void* into, std::size_t bytes) const;

 private:
  [[noreturn]] void fail(std::string_view what) const;
  void require(bool holds, std::string_view what) const {
    if (!holds) fail(what);
  }
  void read_header();
  [[nodiscard]] bool read(void* into, std::size_t bytes);
  [[nodiscard]] std::size_t read_at(std::int64_t at, std::byte* into, std::size_t bytes) const;
  void require_call(const CallRecord& call) const;

  std::string path_;
  FileDescriptor file_;
  std::vector<std::byte> buffer_;  ///< Bytes of the file from `buffered_at_` on.
  std::int64_t buffered_at_ = 0;
  FileHeader header_{};
  std::int64_t at_ = 0, size_ = 0;
  std::vector<CommunicatorRecord> communicators_{};
  std::optional<EndRecord> end_{};
};

}  // namespace tutti::bits
