#pragma once
// Writes the trace file of this process.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lib/core/memory/exclusive_file.hpp"
#include "lib/watch/trace/format.hpp"

namespace tutti::trace {

/// Records are kept in a fixed number of blocks (1 MiB in all), and written at quiet moments, at the latest when all
/// blocks are full. Once the file has reached its limit, or cannot be written, records are dropped and counted; the
/// last block tells how many. The caller keeps threads apart.
class Writer {
 public:
  /// Opens the file of this rank, `folder`/HOST.RANK.tutti-trace, in place of one that may be there, and makes the
  /// folder if need be. `limit`: bytes of the file, at least some blocks. Throws Error that names the file and says why
  /// it cannot be written.
  Writer(const std::string& folder, FileHeader header, std::int64_t limit);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { finish(); }

  /// Takes the place of a trace that was there. Before all records are written. Throws Error.
  void begin();
  /// No record comes: an older trace stays if there was no begin().
  void withdraw() noexcept { file_.withdraw(); }

  template <class Record>
  void add(const Record& record) noexcept {
    static_assert(sizeof(Record) == record_bytes && std::is_trivially_copyable_v<Record>);
    if (std::byte* const place = next_place(); place != nullptr) std::memcpy(place, &record, record_bytes);
  }
  /// The number of a text, of which the file keeps at most 56 bytes. Number 0 is the empty text, which others become if
  /// there are too many.
  [[nodiscard]] std::uint16_t name(std::string_view text);
  /// The number of the next operation, from 1.
  [[nodiscard]] std::uint64_t next_operation() noexcept { return ++operations_; }
  /// The number of the next communicator, from 0.
  [[nodiscard]] std::uint32_t next_communicator() noexcept { return communicators_++; }

  /// A quiet moment: writes blocks that are full, or what there is if nothing was written for a second.
  void settle(std::int64_t now) noexcept {
    if (filling_ > 0 || now >= write_at_) flush();
  }
  /// Writes all records so far.
  void flush() noexcept { write(0); }
  /// Writes the rest and closes the file; later records are dropped. Nothing in a child of a fork.
  void finish() noexcept;

  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

 private:
  using Record = std::array<std::byte, record_bytes>;
  struct Block {
    BlockHeader header{};
    std::array<Record, most_records> records{};
  };
  static_assert(sizeof(Block) == block_bytes);

  std::byte* next_place() noexcept {
    BlockHeader& header = blocks_[filling_].header;
    if (header.records == most_records || is_closed_) return next_place_slowly();
    return blocks_[filling_].records[header.records++].data();
  }
  std::byte* next_place_slowly() noexcept;
  void write(std::uint32_t flags) noexcept;
  std::size_t seal(Block& block, std::uint32_t flags) noexcept;
  void give_up(std::uint64_t lost) noexcept;
  bool write_end() noexcept;
  void start_block(std::size_t index) noexcept;

  ExclusiveFile file_;
  FileHeader header_;
  std::int64_t limit_;
  std::int64_t written_ = 0;  ///< Bytes of the file that are whole, but for its end.
  std::int64_t before_ = 0;   ///< Bytes before the last write, and the records then.
  std::uint64_t recorded_before_ = 0;
  std::int64_t write_at_ = 0;   ///< When settle() writes also if no block is full.
  std::vector<Block> blocks_;   ///< One after the other: those up to `filling_` are written by one call.
  std::size_t filling_ = 0;     ///< The block that takes records.
  bool is_closed_ = false;      ///< Takes no records any more.
  bool is_full_ = false;        ///< The disk is, or a limit of the process: the last block says how much is missing.
  std::uint64_t recorded_ = 0;  ///< Records in the blocks that were written.
  std::uint64_t dropped_ = 0;
  std::uint64_t operations_ = 0;
  std::uint32_t communicators_ = 0;
  std::map<std::string, std::uint16_t, std::less<>> names_;
};

}  // namespace tutti::trace
