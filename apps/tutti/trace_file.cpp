#include "apps/tutti/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tutti::tool {
namespace {

using namespace trace;

/// No sum or difference of a few such times overflows.
constexpr std::int64_t latest = std::int64_t{1} << 60;
constexpr int most_ranks = 1 << 24;

template <std::size_t n>
std::string text_of(const std::array<char, n>& place) {
  return {place.begin(), std::find(place.begin(), place.end(), '\0')};
}

class Reader {
 public:
  Reader(const std::string& path, std::string_view bytes) : bytes_(bytes) { file_.path = path; }

  TraceFile read(Salvage salvage) {
    read_header();
    try {
      while (at_ < bytes_.size())
        read_block();
    } catch (const TraceError& error) {
      if (salvage == Salvage::no)
        throw TraceError(
            fmt::format("{}; {} records before it are whole: --salvage takes them", error.what(), file_.records));
      file_.damage = error.what();
    }
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw TraceError(fmt::format("'{}', byte {}: {}", file_.path, at_, what));
  }
  void require(bool holds, std::string_view what) const {
    if (!holds) fail(what);
  }
  template <class Struct>
  Struct taken(std::size_t at) const {
    Struct read;
    std::memcpy(&read, bytes_.data() + at, sizeof read);
    return read;
  }
  void read_header();
  void read_block();
  void read_record();
  void read_name(const NameRecord& record);
  void read_communicator(const CommunicatorRecord& record);
  void read_clock(const ClockRecord& record);
  void read_begin(const BeginRecord& record);
  void read_end(const EndRecord& record);
  void read_step(const StepRecord& record);
  void read_wait(const WaitRecord& record);
  void read_writing(const WritingRecord& record);
  void require_span(std::int64_t begin, std::int64_t end) const {
    require(begin >= 0 && begin <= end && end <= latest, "a stretch of time that ends before it begins, or is none");
  }
  void require_bytes(std::int64_t bytes) const {
    require(bytes >= 0 && bytes <= latest, "a number of bytes that is none");
  }
  /// The communicator of an operation.
  [[nodiscard]] const CommunicatorRecord& communicator_of(std::uint64_t operation) const {
    require(operation >= 1 && operation <= file_.operations.size(), "an operation that did not begin");
    return file_.communicators[file_.operations[operation - 1].begun.communicator];
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  TraceFile file_;
};

void Reader::read_header() {
  FileHeader header;
  require(bytes_.size() >= sizeof header, "the file is too short for a trace");
  header = taken<FileHeader>(0);
  require(header.magic == FileHeader{}.magic, "this is no trace of Tutti");
  require(header.byte_order == byte_order, "the trace comes from a machine with another order of bytes");
  if (header.version != version)
    fail(fmt::format("the trace has version {}; this tool reads version {}", header.version, version));
  require(header.header_bytes == sizeof header && header.record_bytes == record_bytes, "a header of another size");
  require(header.ranks <= most_ranks && header.rank >= 0 && header.rank < header.ranks,
          "a rank that is not in its world");
  file_.rank = header.rank;
  file_.ranks = header.ranks;
  for (const std::int64_t time : {header.opened_at, header.opened_at_utc})
    require(time >= 0 && time <= latest * 4, "a time that is none");
  file_.opened_at = header.opened_at;
  file_.opened_at_utc = header.opened_at_utc;
  file_.host = text_of(header.host);
  file_.tutti = text_of(header.tutti);
  at_ = sizeof header;
}

void Reader::read_block() {
  const std::size_t left = bytes_.size() - at_;
  require(!file_.is_closed, "bytes behind the last block");
  require(left >= sizeof(BlockHeader), "the file ends within the header of a block");
  auto header = taken<BlockHeader>(at_);
  require(header.magic == BlockHeader{}.magic, "no block begins here");
  require(header.records <= most_records, "a block of too many records");
  const std::size_t size = (header.records + 1) * record_bytes;
  require(left >= size, "the file ends within a block");
  std::string block{bytes_.substr(at_, size)};
  BlockHeader without = header;
  without.checksum = 0;
  std::memcpy(block.data(), &without, sizeof without);
  require(checksum_of(block.data(), block.size()) == header.checksum, "the checksum of a block is wrong");
  require(header.first == file_.records && header.flags <= BlockHeader::last, "a block that is not the next");
  file_.dropped = header.dropped;
  at_ += record_bytes;
  for (std::uint32_t i = 0; i < header.records; ++i, at_ += record_bytes)
    read_record();
  file_.is_closed = header.flags == BlockHeader::last;
}

void Reader::read_record() {
  switch (static_cast<RecordKind>(bytes_[at_])) {
    case RecordKind::name:
      read_name(taken<NameRecord>(at_));
      break;
    case RecordKind::communicator:
      read_communicator(taken<CommunicatorRecord>(at_));
      break;
    case RecordKind::clock:
      read_clock(taken<ClockRecord>(at_));
      break;
    case RecordKind::begin:
      read_begin(taken<BeginRecord>(at_));
      break;
    case RecordKind::end:
      read_end(taken<EndRecord>(at_));
      break;
    case RecordKind::step:
      read_step(taken<StepRecord>(at_));
      break;
    case RecordKind::wait:
      read_wait(taken<WaitRecord>(at_));
      break;
    case RecordKind::writing:
      read_writing(taken<WritingRecord>(at_));
      break;
    default:
      fail("a record of no known kind");
  }
  ++file_.records;
}

void Reader::read_name(const NameRecord& record) {
  require(record.number == file_.names.size() && record.length <= record.text.size(), "a name out of turn");
  file_.names.emplace_back(record.text.data(), record.length);
}

void Reader::read_communicator(const CommunicatorRecord& record) {
  require(record.number == file_.communicators.size(), "a communicator out of turn");
  require(record.size <= most_ranks && record.rank >= 0 && record.rank < record.size,
          "a rank that is not in its communicator");
  require(record.node >= 0 && record.node < record.nodes, "a node that there is not");
  require(record.context >= 0 && record.earlier >= 0, "a communicator with a negative number");
  require_span(record.made_at, record.made_at);
  file_.communicators.push_back(record);
}

void Reader::read_clock(const ClockRecord& record) {
  require_span(record.at, record.at);
  require(record.offset >= -latest && record.offset <= latest, "a difference between clocks that is none");
  require(record.round_trip >= 0 && record.round_trip <= latest, "a round trip that took no time");
  file_.clocks.push_back(record);
}

void Reader::read_begin(const BeginRecord& record) {
  require(record.operation == file_.operations.size() + 1, "an operation out of turn");
  require(record.communicator < file_.communicators.size(), "a communicator that was not made");
  require(record.start <= Start::program, "an operation that began in no known way");
  const std::size_t names = file_.names.size();
  require(record.collective < names && record.algorithm < names && record.type < names && record.op < names,
          "a name that was not told");
  require(record.root >= -1 && record.root < file_.communicators[record.communicator].size, "a root that is no rank");
  require_span(record.begin, record.begin);
  require_bytes(record.bytes);
  require_bytes(record.count);
  file_.operations.push_back({.begun = record});
}

void Reader::read_end(const EndRecord& record) {
  static_cast<void>(communicator_of(record.operation));
  TracedOperation& operation = file_.operations[record.operation - 1];
  require(!operation.is_over() && record.begin == operation.begun.begin && record.end > 0,
          "an operation ends that is over, or another one");
  require_span(record.begin, record.end);
  require(record.turn == 0 || (record.turn >= record.begin && record.turn <= record.end), "a turn out of its time");
  operation.turn = record.turn;
  operation.end = record.end;
  operation.has_failed = record.has_failed != 0;
}

void Reader::read_step(const StepRecord& record) {
  const int size = communicator_of(record.operation).size;
  require(record.action <= trace::Action::finish && record.way <= Way::device, "a step of no known kind");
  const bool is_message = record.action <= trace::Action::recv_reduce;
  require(!is_message || (record.peer >= 0 && record.peer < size), "a message with a rank that there is not");
  require_span(record.begin, record.end);
  require_span(record.begin, record.accepted);
  require(record.accepted <= record.end, "a message that was posted when it was over");
  require_bytes(record.bytes);
  file_.steps.push_back(record);
}

void Reader::read_wait(const WaitRecord& record) {
  const int size = communicator_of(record.operation).size;
  require(record.peer >= -1 && record.peer < size, "a wait for a rank that there is not");
  require_span(record.begin, record.end);
  require(record.idle >= 0 && record.idle <= record.end - record.begin, "a wait that is longer than its time");
  file_.waits.push_back(record);
}

void Reader::read_writing(const WritingRecord& record) {
  require_span(record.begin, record.end);
  require_bytes(record.bytes);
  file_.writings.push_back(record);
}

}  // namespace

TraceFile read_trace(const std::string& path, std::string_view bytes, Salvage salvage) {
  return Reader{path, bytes}.read(salvage);
}

}  // namespace tutti::tool
