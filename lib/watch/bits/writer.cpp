#include "lib/watch/bits/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>

namespace tutti::bits {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string path_of(const std::string& folder, int rank) {
  return std::filesystem::path{folder} / fmt::format("{}{}{}", file_prefix, rank, file_suffix);
}

Writer::Writer(const std::string& folder, const FileHeader& header)
    : file_(path_of(folder, header.rank)), header_(header), room_(header.deep), write_at_(seconds_now() + 1) {
  buffer_.reserve(buffer_bytes);
  starts_.reserve(buffer_bytes / record_bytes + 2);
}

void Writer::begin() {
  file_.begin(&header_, sizeof header_);
  starts_.push_back(file_.bytes());
}

bool Writer::take_room(std::int64_t bytes) noexcept {
  if (is_over_ || padded(bytes) > room_) return false;
  room_ -= padded(bytes);
  return true;
}

void Writer::begin_record() noexcept {
  if (seconds_now() >= write_at_) write();
  if (!is_over_) starts_.push_back(file_.bytes() + static_cast<std::int64_t>(buffer_.size()));
}

void Writer::append(const void* data, std::size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  while (bytes > 0 && !is_over_) {
    const std::size_t fits = std::min(bytes, buffer_bytes - buffer_.size());
    buffer_.insert(buffer_.end(), at, at + fits);  // within its capacity
    at += fits;
    bytes -= fits;
    if (buffer_.size() == buffer_bytes) write();
  }
}

void Writer::pad(std::int64_t bytes) noexcept {
  constexpr std::array<std::byte, 8> zeros{};
  append(zeros.data(), static_cast<std::size_t>(padded(bytes) - bytes));
}

void Writer::write() noexcept {
  if (is_over_ || !file_.is_open()) return;
  write_at_ = seconds_now() + 1;
  if (!file_.write(buffer_.data(), buffer_.size())) return give_up();
  buffer_.clear();
  starts_.erase(starts_.begin(), starts_.end() - 1);
}

/// The file keeps what is whole.
void Writer::give_up() noexcept {
  is_over_ = true;
  buffer_.clear();
  std::fputs(fmt::format("tutti: rank {}: cannot write '{}': {}; the record of the calls' bits ends here\n",
                         header_.rank, file_.path(), file_.why_not())
                 .c_str(),
             stderr);
  file_.cut(*(std::ranges::upper_bound(starts_, file_.bytes()) - 1));  // the first one was written
}

void Writer::finish() noexcept {
  if (!is_over_ && file_.is_open()) {
    add(EndRecord{.calls = calls_});
    write();
  }
  is_over_ = true;
  file_.close();
}

}  // namespace tutti::bits
