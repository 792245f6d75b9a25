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

Reader::Reader(std::string path) : path_(std::move(path)) {
  // Not a pipe, which may never have anything.
  const int opened = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  file_.reset(opened < 0 ? nullptr : ::fdopen(opened, "rb"));
  struct stat facts {};
  if (file_ == nullptr || ::fstat(::fileno(file_.get()), &facts) != 0)
    throw FileError(fmt::format("cannot read '{}': {}", path_, std::generic_category().message(errno)));
  require(S_ISREG(facts.st_mode), "this is no ordinary file");
  std::setvbuf(file_.get(), nullptr, _IOFBF, buffer_bytes);
  size_ = facts.st_size;
  read_header();
}

void Reader::fail(std::string_view what) const { throw FileError(fmt::format("'{}', byte {}: {}", path_, at_, what)); }

bool Reader::read(void* into, std::size_t bytes) {
  return size_ - at_ >= static_cast<std::int64_t>(bytes) && std::fread(into, 1, bytes, file_.get()) == bytes;
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
        if (call.stored > 0 && ::fseeko(file_.get(), at_, SEEK_SET) != 0) fail("the file cannot be read further");
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
  auto* to = static_cast<std::byte*>(into);
  for (::off_t at = call.data_at + from; bytes > 0;) {
    const ssize_t done = ::pread(::fileno(file_.get()), to, bytes, at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw FileError(fmt::format("'{}', byte {}: the data of a call cannot be read", path_, at));
    to += done;
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

}  // namespace tutti::bits
