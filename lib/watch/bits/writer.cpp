#include "lib/watch/bits/writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::bits {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

std::string in_words(int error) { return std::generic_category().message(error); }

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string path_of(const std::string& folder, int rank) {
  return std::filesystem::path{folder} / fmt::format("{}{}{}", file_prefix, rank, file_suffix);
}

Writer::Writer(const std::string& folder, const FileHeader& header)
    : path_(path_of(folder, header.rank)),
      header_(header),
      file_(open_exclusively(path_)),
      room_(header.deep),
      write_at_(seconds_now() + 1),
      identity_(file_) {
  buffer_.reserve(buffer_bytes);
}

void Writer::begin() {
  // A device cannot be cut; the write says what it is.
  if ((::ftruncate(file_, 0) != 0 && errno != EINVAL) || !write_bytes(&header_, sizeof header_)) {
    const int error = errno;
    ::close(std::exchange(file_, -1));
    throw Error(fmt::format("cannot write '{}': {}", path_, in_words(error)));
  }
  starts_.reserve(buffer_bytes / record_bytes + 2);
  starts_.push_back(written_);
}

void Writer::withdraw() noexcept {
  if (::lseek(file_, 0, SEEK_END) == 0) ::unlink(path_.c_str());  // nobody had it before
  ::close(std::exchange(file_, -1));
}

bool Writer::write_bytes(const void* data, std::size_t bytes) noexcept {
  const std::size_t done = write_all(file_, data, bytes);
  written_ += static_cast<std::int64_t>(done);
  return done == bytes;
}

bool Writer::take_room(std::int64_t bytes) noexcept {
  if (is_full_ || padded(bytes) > room_) return false;
  room_ -= padded(bytes);
  return true;
}

void Writer::begin_record() noexcept {
  if (seconds_now() >= write_at_) write();
  if (is_full_)
    ++lost_;
  else
    starts_.push_back(written_ + static_cast<std::int64_t>(buffer_.size()));
}

void Writer::append(const void* data, std::size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  while (bytes > 0 && !is_full_ && file_ >= 0) {
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
  if (file_ < 0 || is_full_ || !process_.is_this()) return;
  write_at_ = seconds_now() + 1;
  if (!is_own_file()) return lose_file();
  if (!write_bytes(buffer_.data(), buffer_.size())) return give_up(errno);
  buffer_.clear();
  starts_.erase(starts_.begin(), starts_.end() - 1);
}

/// The file keeps what is whole.
void Writer::give_up(int error) noexcept {
  is_full_ = true;
  const auto cut = std::ranges::upper_bound(starts_, written_) - 1;  // the first one was written
  lost_ += static_cast<std::uint64_t>(starts_.end() - cut);
  static_cast<void>(::ftruncate(file_, *cut));
  end_here(in_words(error));
}

/// The program has closed the descriptor, which may be that of another file now.
void Writer::lose_file() noexcept {
  is_full_ = true;
  lost_ += starts_.size() - 1;
  file_ = -1;
  end_here("the program has closed its descriptor");
}

void Writer::end_here(const std::string& why) noexcept {
  buffer_.clear();
  std::fputs(fmt::format("tutti: rank {}: cannot write '{}': {}; the record of the calls' bits ends here\n",
                         header_.rank, path_, why)
                 .c_str(),
             stderr);
}

void Writer::finish() noexcept {
  if (file_ < 0 || !process_.is_this()) return;
  if (written_ == 0) return withdraw();
  add(EndRecord{.calls = calls_});
  write();
  if (file_ >= 0 && is_own_file()) ::close(file_);
  file_ = -1;
}

}  // namespace tutti::bits
