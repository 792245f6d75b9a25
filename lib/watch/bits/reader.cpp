#include "lib/watch/bits/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "lib/core/memory/above_standard.hpp"
#include "lib/core/reduce/wide_type.hpp"
#include "lib/watch/records/signature.hpp"
#include "tutti/op.hpp"

namespace tutti::bits {
namespace {

constexpr int most_ranks = 1 << 24;
constexpr std::size_t buffer_bytes = std::size_t{256} << 10U;

template <class Record>
Record as(const std::array<std::byte, record_bytes>& bytes) {
  Record record;
  std::memcpy(&record, bytes.data(), sizeof record);
  return record;
}

}  // namespace

// Not a pipe, which may never have anything.
Reader::Reader(std::string path)
    : path_(std::move(path)), file_(above_standard(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))) {
  struct stat facts {};
  if (file_.number() < 0 || ::fstat(file_.number(), &facts) != 0)
    throw FileError(fmt::format("cannot read '{}': {}", path_, std::generic_category().message(errno)));
  size_ = facts.st_size;
  require(S_ISREG(facts.st_mode), "this is no ordinary file");
  read_header();
}

void Reader::fail(std::string_view what) const { throw FileError(fmt::format("'{}', byte {}: {}", path_, at_, what)); }

/// At a place of its own: a child of a fork shares that of the descriptor. Returns how many there were.
std::size_t Reader::read_at(std::int64_t at, std::byte* into, std::size_t bytes) const {
  if (!file_.is_there()) fail("the program has closed the descriptor of this file");
  std::size_t read = 0;
  while (read < bytes) {
    const ssize_t done = ::pread(file_.number(), into + read, bytes - read, at + static_cast<std::int64_t>(read));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) break;
    read += static_cast<std::size_t>(done);
  }
  return read;
}

/// From at_ on.
bool Reader::read(void* into, std::size_t bytes) {
  if (size_ - at_ < static_cast<std::int64_t>(bytes)) return false;
  const auto end = [&] { return buffered_at_ + static_cast<std::int64_t>(buffer_.size()); };
  if (at_ < buffered_at_ || at_ + static_cast<std::int64_t>(bytes) > end()) {
    buffer_.resize(buffer_bytes);
    buffered_at_ = at_;
    buffer_.resize(read_at(at_, buffer_.data(), buffer_.size()));
  }
  if (at_ + static_cast<std::int64_t>(bytes) > end()) return false;
  std::memcpy(into, buffer_.data() + (at_ - buffered_at_), bytes);
  return true;
}

void Reader::read_header() {
  require(read(&header_, sizeof header_), "the file is too short for a record of bits");
  require(header_.magic == FileHeader{}.magic, "this is no record of bits");
  require(header_.byte_order == byte_order, "the record comes from a machine with another order of bytes");
  if (header_.version != version)
    fail(fmt::format("the record has version {}; allowed: version {}", header_.version, version));
  require(header_.header_bytes == sizeof header_ && header_.record_bytes == record_bytes, "a header of another size");
  require(header_.ranks <= most_ranks && header_.rank >= 0 && header_.rank < header_.ranks,
          "a rank that is not in its world");
  at_ = sizeof header_;
}

void Reader::require_call(const CallRecord& call) const {
  using records::Action;
  const bool is_known = call.action <= static_cast<std::uint8_t>(Action::messages) &&
                        call.op <= static_cast<std::uint8_t>(Op::Kind::user) &&
                        static_cast<int>(call.hashed) < hashed_count && call.manner <= 3 &&
                        (is_type(static_cast<Type>(call.type)) || static_cast<Type>(call.type) == detail::wide_type);
  require(is_known, "a call of no known kind");
  require(call.communicator < communicators_.size(), "a call on a communicator that was not recorded");
  require(call.number > 0 && call.call > 0 && call.count >= 0, "a call without a number");
  require(call.bytes >= 0 && (call.stored == 0 || call.stored == call.bytes) && call.stored <= size_,
          "a call with a number of bytes that is none");
}

std::optional<StoredCall> Reader::next() {
  while (at_ < size_) {
    require(!is_closed(), "bytes behind the end of the record");
    std::array<std::byte, record_bytes> bytes{};
    require(read(bytes.data(), bytes.size()), "the file ends within a record");
    const auto call = as<CallRecord>(bytes);
    require(call.checksum == checksum_of(call), "the checksum of a record is wrong");
    switch (call.kind) {
      case RecordKind::communicator: {
        const auto communicator = as<CommunicatorRecord>(bytes);
        require(communicator.number == communicators_.size() && communicator.earlier >= 0 && communicator.rank >= 0 &&
                    communicator.rank < communicator.size && communicator.size <= header_.ranks,
                "a communicator out of turn");
        communicators_.push_back(communicator);
        at_ += record_bytes;
        break;
      }
      case RecordKind::begin:
      case RecordKind::over: {
        require_call(call);
        at_ += record_bytes;
        const StoredCall stored{call, at_};
        require(padded(call.stored) <= size_ - at_, "the file ends within the data of a call");
        at_ += padded(call.stored);
        return stored;
      }
      case RecordKind::end:
        end_ = as<EndRecord>(bytes);
        at_ += record_bytes;
        break;
      default:
        fail("a record of no known kind");
    }
  }
  return std::nullopt;
}

void Reader::read_data(const StoredCall& call, std::int64_t from, void* into, std::size_t bytes) const {
  const std::int64_t at = call.data_at + from;
  if (read_at(at, static_cast<std::byte*>(into), bytes) < bytes)
    throw FileError(fmt::format("'{}', byte {}: the data of a call cannot be read", path_, at));
}

}  // namespace tutti::bits
