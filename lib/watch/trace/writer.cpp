#include "lib/watch/trace/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "lib/watch/trace/clock.hpp"

namespace tutti::trace {
namespace {

constexpr std::size_t block_count = 16;
constexpr std::int64_t most_patience = 1'000'000'000;  // nanoseconds until a block is written that is not full

}  // namespace

Writer::Writer(const std::string& folder, FileHeader header, std::int64_t limit)
    : file_(std::filesystem::path{folder} / fmt::format("{}.{}{}", header.host.data(), header.rank, file_suffix)),
      header_(header),
      limit_(limit),
      write_at_(now() + most_patience),
      blocks_(block_count) {
  start_block(0);
  static_cast<void>(name(""));
}

void Writer::begin() {
  file_.begin(&header_, sizeof header_);
  written_ = file_.bytes();
}

void Writer::start_block(std::size_t index) noexcept {
  filling_ = index;
  blocks_[index].header = BlockHeader{};
}

std::byte* Writer::next_place_slowly() noexcept {
  if (!is_closed_) {
    // Behind the blocks there has to be room for one more, and for the header of the last.
    const auto whole = static_cast<std::int64_t>((filling_ + 2) * block_bytes + sizeof(BlockHeader));
    is_closed_ = written_ + whole > limit_;
    if (!is_closed_ && filling_ + 1 == blocks_.size())
      flush();
    else if (!is_closed_)
      start_block(filling_ + 1);
  }
  if (!is_closed_) return blocks_[filling_].records[blocks_[filling_].header.records++].data();
  ++dropped_;
  return nullptr;
}

/// All blocks by one call of the system: those before the last are full, so nothing lies between them.
void Writer::write(std::uint32_t flags) noexcept {
  if (is_full_ || !file_.is_open()) return;
  const std::int64_t begin = now();
  write_at_ = begin + most_patience;
  if (blocks_.front().header.records == 0 && flags == 0) return;
  const std::uint64_t before = recorded_;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i <= filling_; ++i)
    bytes += seal(blocks_[i], i == filling_ ? flags : 0);
  if (!file_.write(blocks_.data(), bytes)) return give_up(recorded_ - before);
  before_ = written_;
  recorded_before_ = before;
  start_block(0);
  written_ = file_.bytes();
  if (!is_closed_) add(WritingRecord{.begin = begin, .end = now(), .bytes = static_cast<std::int64_t>(bytes)});
}

/// Returns its bytes.
std::size_t Writer::seal(Block& block, std::uint32_t flags) noexcept {
  BlockHeader& header = block.header;
  header.first = recorded_;
  header.dropped = dropped_;
  header.flags = flags;
  const std::size_t bytes = (header.records + 1) * record_bytes;
  header.checksum = checksum_of(&block, bytes);
  recorded_ += header.records;
  return bytes;
}

/// The file keeps what is whole. Where there is no room even for the end, what was written last makes room.
void Writer::give_up(std::uint64_t lost) noexcept {
  std::fputs(fmt::format("tutti: rank {}: cannot write '{}': {}; the trace ends here\n", header_.rank, file_.path(),
                         file_.why_not())
                 .c_str(),
             stderr);
  is_closed_ = is_full_ = true;
  dropped_ += lost;
  recorded_ -= lost;
  start_block(0);
  if (write_end() || before_ == 0) return;
  dropped_ += recorded_ - recorded_before_;
  recorded_ = recorded_before_;
  written_ = before_;
  static_cast<void>(write_end());
}

/// A last block without records.
bool Writer::write_end() noexcept {
  Block& block = blocks_.front();
  block.header = BlockHeader{.first = recorded_, .dropped = dropped_, .flags = BlockHeader::last};
  block.header.checksum = checksum_of(&block, sizeof block.header);
  file_.cut(written_);
  return file_.write(&block, sizeof block.header);
}

void Writer::finish() noexcept {
  if (file_.is_open()) {
    if (is_full_)
      static_cast<void>(write_end());  // with the number of records that have been dropped since
    else
      write(BlockHeader::last);
  }
  is_closed_ = true;
  file_.close();
}

std::uint16_t Writer::name(std::string_view text) {
  if (const auto found = names_.find(text); found != names_.end()) return found->second;
  if (names_.size() > std::numeric_limits<std::uint16_t>::max()) return 0;
  const auto number = static_cast<std::uint16_t>(names_.size());
  NameRecord record{.number = number};
  record.length = static_cast<std::uint32_t>(text.copy(record.text.data(), record.text.size()));
  names_.emplace(text, number);
  add(record);
  return number;
}

}  // namespace tutti::trace
