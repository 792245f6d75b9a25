// The reader of traces: whatever the bytes, it reads a trace or says where the damage is.
#include "apps/tutti/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "tests/trace/trace_files.hpp"

namespace tutti::test {
namespace {

using testing::HasSubstr;
using tool::Salvage;
using namespace trace;

/// A trace in memory: blocks of given records.
class TraceBytes {
 public:
  explicit TraceBytes(const FileHeader& header = header_of(0, 2)) { append(header); }

  template <class... Records>
  TraceBytes& block(const Records&... records) {
    const std::size_t begin = bytes_.size();
    BlockHeader header;
    header.records = sizeof...(records);
    header.first = records_;
    append(header);
    (append(records), ...);
    records_ += sizeof...(records);
    return seal(begin);
  }
  /// Changes the header of the block that begins there, and makes the checksum right again.
  TraceBytes& change(std::size_t begin, const std::function<void(BlockHeader&)>& change) {
    BlockHeader header;
    std::memcpy(&header, bytes_.data() + begin, sizeof header);
    header.checksum = 0;
    change(header);
    std::memcpy(bytes_.data() + begin, &header, sizeof header);
    return seal(begin);
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }
  [[nodiscard]] std::string& text() { return bytes_; }

 private:
  template <class Struct>
  void append(const Struct& of) {
    bytes_.append(reinterpret_cast<const char*>(&of), sizeof of);
  }
  TraceBytes& seal(std::size_t begin) {
    const std::uint64_t sum = checksum_of(bytes_.data() + begin, bytes_.size() - begin);
    std::memcpy(bytes_.data() + begin + offsetof(BlockHeader, checksum), &sum, sizeof sum);
    return *this;
  }
  std::string bytes_;
  std::uint64_t records_ = 0;
};

constexpr std::size_t first_block = sizeof(FileHeader), first_record = first_block + record_bytes;
const NameRecord empty_name{};
const CommunicatorRecord communicator{.size = 2};
const BeginRecord begin_record{.operation = 1, .begin = 100};

std::string damage_in(std::string_view bytes) {
  try {
    static_cast<void>(tool::read_trace("t", bytes, Salvage::no));
    return "none";
  } catch (const tool::TraceError& error) {
    return error.what();
  }
}

/// The damage of a trace whose only block has these records.
template <class... Records>
std::string damage_of(const Records&... records) {
  return damage_in(TraceBytes{}.block(records...).text());
}

TEST(TraceFile, IsReadIfItIsWhole) {
  EXPECT_EQ(damage_of(empty_name, communicator, begin_record), "none");
  EXPECT_EQ(damage_in(TraceBytes{}.text()), "none") << "a rank that was killed at once";
  EXPECT_EQ(damage_in(TraceBytes{}.block().text()), "none");
}

TEST(TraceFile, IsToldFromOtherFiles) {
  EXPECT_THAT(damage_in(""), HasSubstr("'t', byte 0: the file is too short for a trace"));
  EXPECT_THAT(damage_in(std::string(1000, 'x')), HasSubstr("this is no trace of Tutti"));
  FileHeader header = header_of(0, 1);
  header.version = 2;
  EXPECT_THAT(damage_in(TraceBytes{header}.text()), HasSubstr("has version 2; this tool reads version 1"));
  header = header_of(0, 1);
  header.byte_order = 0x04030201;
  EXPECT_THAT(damage_in(TraceBytes{header}.text()), HasSubstr("another order of bytes"));
  EXPECT_THAT(damage_in(TraceBytes{header_of(3, 3)}.text()), HasSubstr("a rank that is not in its world"));
}

TEST(TraceFile, TellsWhereItWasCutOff) {
  const std::string bytes = TraceBytes{}.block(empty_name, communicator).block(begin_record).text();
  const std::size_t second = first_record + 2 * record_bytes;
  for (std::size_t size = sizeof(FileHeader); size < bytes.size(); ++size) {
    const bool is_between_blocks = size == first_block || size == second;
    const std::string damage = damage_in(std::string_view{bytes}.substr(0, size));
    if (is_between_blocks) {
      EXPECT_EQ(damage, "none") << size;
      continue;
    }
    const std::size_t block = size < second ? first_block : second;
    EXPECT_THAT(damage, HasSubstr("'t', byte " + std::to_string(block) + ": the file ends within")) << size;
    EXPECT_THAT(damage, HasSubstr(block == second ? "2 records before it are whole" : "0 records before it are whole"));
  }
}

TEST(TraceFile, WholeBlocksCanBeSalvaged) {
  const std::string bytes =
      TraceBytes{}.block(empty_name, communicator, begin_record).block(StepRecord{.operation = 1}).text();
  const tool::TraceFile file = tool::read_trace("t", std::string_view{bytes}.substr(0, bytes.size() - 1), Salvage::yes);
  EXPECT_EQ(file.operations.size(), 1);
  EXPECT_TRUE(file.steps.empty());
  EXPECT_THAT(file.damage, HasSubstr("byte 512: the file ends within a block"));
  EXPECT_THROW(static_cast<void>(tool::read_trace("t", "no trace", Salvage::yes)), tool::TraceError);
}

TEST(TraceFile, TellsOfDamagedBlocks) {
  const TraceBytes whole = TraceBytes{}.block(empty_name, communicator);
  for (std::size_t at = first_block; at < whole.text().size(); ++at) {
    std::string bytes = whole.text();
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    EXPECT_THAT(damage_in(bytes), HasSubstr("'t', byte 256: ")) << at;
  }
  const auto changed = [](const std::function<void(BlockHeader&)>& change) {
    return damage_in(TraceBytes{}.block(empty_name).change(first_block, change).text());
  };
  EXPECT_THAT(changed([](BlockHeader& header) { header.first = 1; }), HasSubstr("a block that is not the next"));
  EXPECT_THAT(changed([](BlockHeader& header) { header.flags = 2; }), HasSubstr("a block that is not the next"));
  EXPECT_THAT(changed([](BlockHeader& header) { header.records = most_records + 1; }), HasSubstr("too many records"));
  EXPECT_THAT(changed([](BlockHeader& header) { header.magic[0] = 'x'; }), HasSubstr("no block begins here"));
  TraceBytes closed = TraceBytes{}.block(empty_name).change(first_block, [](BlockHeader& header) { header.flags = 1; });
  EXPECT_TRUE(tool::read_trace("t", closed.text(), Salvage::no).is_closed);
  EXPECT_THAT(damage_in(closed.block(communicator).text()), HasSubstr("byte 384: bytes behind the last block"));
}

TEST(TraceFile, RefusesRecordsThatCannotBe) {
  NameRecord unknown;
  unknown.kind = static_cast<RecordKind>(99);
  EXPECT_THAT(damage_of(unknown), HasSubstr("byte 320: a record of no known kind"));
  EXPECT_THAT(damage_of(NameRecord{.number = 1}), HasSubstr("a name out of turn"));
  EXPECT_THAT(damage_of(NameRecord{.length = 57}), HasSubstr("a name out of turn"));
  EXPECT_THAT(damage_of(CommunicatorRecord{.number = 1}), HasSubstr("a communicator out of turn"));
  EXPECT_THAT(damage_of(CommunicatorRecord{.rank = 2, .size = 2}), HasSubstr("not in its communicator"));
  EXPECT_THAT(damage_of(CommunicatorRecord{.rank = 1 << 30, .size = (1 << 30) + 1}),
              HasSubstr("not in its communicator"));
  EXPECT_THAT(damage_of(CommunicatorRecord{.node = 1, .nodes = 1}), HasSubstr("a node that there is not"));
  EXPECT_THAT(damage_of(ClockRecord{.at = -1}), HasSubstr("a stretch of time"));
  EXPECT_THAT(damage_of(ClockRecord{.offset = std::numeric_limits<std::int64_t>::min()}),
              HasSubstr("difference between"));
  EXPECT_THAT(damage_of(ClockRecord{.round_trip = -1}), HasSubstr("a round trip"));
  EXPECT_THAT(damage_of(empty_name, begin_record), HasSubstr("byte 384: a communicator that was not made"));
  EXPECT_THAT(damage_of(communicator, begin_record), HasSubstr("a name that was not told"));
  EXPECT_THAT(damage_of(empty_name, communicator, BeginRecord{.operation = 2}), HasSubstr("an operation out of turn"));
  EXPECT_THAT(damage_of(empty_name, communicator, BeginRecord{.operation = 1, .root = 2}), HasSubstr("a root"));
  EXPECT_THAT(damage_of(empty_name, communicator, BeginRecord{.operation = 1, .bytes = -1}),
              HasSubstr("number of bytes"));
  EXPECT_THAT(damage_of(empty_name, communicator, BeginRecord{.start = static_cast<Start>(5), .operation = 1}),
              HasSubstr("began in no known way"));
  EXPECT_THAT(damage_of(WritingRecord{.begin = 2, .end = 1}), HasSubstr("a stretch of time"));
}

/// The damage of a record behind an operation that has begun.
template <class Record>
std::string damage_behind(const Record& record) {
  return damage_of(empty_name, communicator, begin_record, record);
}

TEST(TraceFile, RefusesPartsOfOperationsThatCannotBe) {
  EXPECT_EQ(damage_behind(EndRecord{.operation = 1, .begin = 100, .turn = 101, .end = 102}), "none");
  EXPECT_THAT(damage_behind(EndRecord{.operation = 2, .begin = 100, .end = 102}), HasSubstr("did not begin"));
  EXPECT_THAT(damage_behind(EndRecord{.operation = 0, .begin = 100, .end = 102}), HasSubstr("did not begin"));
  EXPECT_THAT(damage_behind(EndRecord{.operation = 1, .begin = 99, .end = 102}), HasSubstr("or another one"));
  EXPECT_THAT(damage_behind(EndRecord{.operation = 1, .begin = 100, .end = 99}), HasSubstr("a stretch of time"));
  EXPECT_THAT(damage_behind(EndRecord{.operation = 1, .begin = 100, .turn = 103, .end = 102}), HasSubstr("a turn"));
  const EndRecord end{.operation = 1, .begin = 100, .end = 102};
  EXPECT_THAT(damage_of(empty_name, communicator, begin_record, end, end), HasSubstr("that is over"));
  EXPECT_EQ(damage_behind(StepRecord{.peer = 1, .operation = 1}), "none");
  EXPECT_THAT(damage_behind(StepRecord{.peer = 1, .operation = 7}),
              HasSubstr("byte 512: an operation that did not begin"));
  EXPECT_THAT(damage_behind(StepRecord{.peer = 2, .operation = 1}), HasSubstr("a rank that there is not"));
  EXPECT_THAT(damage_behind(StepRecord{.action = static_cast<trace::Action>(8), .operation = 1}), HasSubstr("a step"));
  EXPECT_THAT(damage_behind(StepRecord{.way = static_cast<Way>(6), .peer = 1, .operation = 1}), HasSubstr("a step"));
  EXPECT_THAT(damage_behind(StepRecord{.peer = 1, .operation = 1, .begin = 5, .end = 4}),
              HasSubstr("a stretch of time"));
  EXPECT_THAT(damage_behind(StepRecord{.peer = 1, .operation = 1, .begin = 5, .end = 6, .accepted = 7}),
              HasSubstr("posted when it was over"));
  EXPECT_THAT(damage_behind(WaitRecord{.peer = 2, .operation = 1}), HasSubstr("a wait for a rank"));
  EXPECT_THAT(damage_behind(WaitRecord{.operation = 1, .begin = 5, .end = 6, .idle = 2}),
              HasSubstr("longer than its time"));
}

/// Any bytes, checksums right or wrong: an answer, and no other harm (with sanitizers, that shows).
TEST(TraceFile, SurvivesAnyBytes) {
  std::mt19937 random{4};
  const TraceBytes whole =
      TraceBytes{}.block(empty_name, communicator, begin_record, StepRecord{.peer = 1, .operation = 1},
                         EndRecord{.operation = 1, .begin = 100, .end = 102});
  int read = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    TraceBytes bytes = whole;
    for (int flips = 0; flips < 3; ++flips)
      bytes.text()[random() % bytes.text().size()] = static_cast<char>(random());
    if (i % 2 == 0) bytes.change(first_block, [](BlockHeader&) {});
    (damage_in(bytes.text()) == "none" ? read : refused)++;
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tutti::test
