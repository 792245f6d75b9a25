#pragma once
// Writes the file of this process in which the bits of its calls are recorded.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/memory/exclusive_file.hpp"
#include "lib/watch/bits/format.hpp"

namespace tutti::bits {

/// Records pass a buffer of 1 MiB, which is written when it is full, and at the first record after a second. What
/// cannot be written ends the file with a warning on stderr: the file keeps what is whole. The caller keeps threads
/// apart.
class Writer {
 public:
  /// Opens `folder`/rank.RANK.tutti-bits, and makes the folder if need be. A record that is there stays until begin().
  /// Throws Error that names the file and says why it cannot be written.
  Writer(const std::string& folder, const FileHeader& header);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { finish(); }

  /// Takes the place of a record that was there. Before all records. Throws Error.
  void begin();
  /// No record comes: an older one stays if there was no begin().
  void withdraw() noexcept { file_.withdraw(); }
  [[nodiscard]] const ExclusiveFile& file() const { return file_; }

  template <class Record>
  void add(Record record) noexcept {
    record.checksum = checksum_of(record);
    begin_record();
    if (record.kind == RecordKind::begin) ++calls_;
    append(&record, sizeof record);
  }
  /// Whether it holds data beside the hashes.
  [[nodiscard]] bool is_deep() const { return header_.deep > 0; }
  /// Whether the file may hold so many bytes of data more, which it then has room for.
  [[nodiscard]] bool take_room(std::int64_t bytes) noexcept;
  /// Data of the latest record, piece by piece; pad() ends them.
  void append(const void* data, std::size_t bytes) noexcept;
  void pad(std::int64_t bytes) noexcept;

  /// Writes all records so far.
  void flush() noexcept { write(); }
  /// Writes the rest, and that the file ends, and closes it. Nothing in a child of a fork.
  void finish() noexcept;

 private:
  void begin_record() noexcept;
  void write() noexcept;
  void give_up() noexcept;

  ExclusiveFile file_;
  FileHeader header_;
  std::vector<std::byte> buffer_;
  std::vector<std::int64_t> starts_;  ///< Where the records in the buffer begin in the file, and the last one before.
  std::int64_t room_ = 0;             ///< Bytes of data that the file may still take.
  std::int64_t write_at_ = 0;
  bool is_over_ = false;     ///< Takes no records any more.
  std::uint64_t calls_ = 0;  ///< That have begun.
};

/// `folder`/rank.RANK.tutti-bits
[[nodiscard]] std::string path_of(const std::string& folder, int rank);

}  // namespace tutti::bits
