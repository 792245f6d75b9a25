// TUTTI_BITS in words, and files of recorded bits: written, read, damaged at every byte, and compared.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lib/core/communicator/bits_use.hpp"
#include "lib/watch/bits/comparison.hpp"
#include "lib/watch/bits/verdict.hpp"
#include "lib/watch/bits/writer.hpp"
#include "lib/watch/records/signature.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tutti::bits {
namespace {

using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadBits, TakesOrdersAndFolders) {
  EXPECT_EQ(read_bits("it", "").bits, Bits::same);
  EXPECT_TRUE(read_bits("it", "fixed").files.empty());
  const BitsUse use = read_bits("it", "fixed,record:/a/b:deep=3M,compare:/c:d");
  EXPECT_EQ(use.bits, Bits::fixed);
  EXPECT_EQ(use.files, (BitsFiles{"/a/b", "/c:d", 3 << 20}));
  EXPECT_EQ(read_bits("it", "record:/a:deep").files.deep, 1 << 30);
  EXPECT_EQ(read_bits("it", "record:/a:deep=7").files.deep, 7);
  EXPECT_EQ(read_bits("it", "record:/a").files.deep, 0);
  EXPECT_EQ(read_bits("it", "compare:x").files.compare, std::filesystem::absolute("x"));
  EXPECT_EQ(read_bits("it", to_text(use.files)).files, use.files);
}

TEST(ReadBits, RefusesAllElse) {
  for (const char* const text : {"x",
                                 ",",
                                 "fixed,",
                                 "same,fixed",
                                 "record:",
                                 "compare:",
                                 "record",
                                 "record::deep",
                                 "record:/a,record:/b",
                                 "compare:/a,compare:/b",
                                 "record:/a,compare:/a",
                                 "record:/a:deep=",
                                 "record:/a:deep=0",
                                 "record:/a:deep=-1",
                                 "record:/a:deep=1X",
                                 "record:/a:depp",
                                 "record:/a:deep64M",
                                 "record:/a:deep:64M",
                                 "record:/a:deep=99999999T",
                                 "Fixed",
                                 "fixed same"}) {
    try {
      static_cast<void>(read_bits("environment variable TUTTI_BITS", text));
      ADD_FAILURE() << "nothing was thrown for '" << text << "'";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string{"environment variable TUTTI_BITS is '"} + text + "': "));
      EXPECT_THAT(error.what(), HasSubstr("; allowed: "));
    }
  }
}

template <class T>
std::string words_of(Type type, const T& value) {
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  return value_in_words(type, bytes.data());
}

TEST(ValueInWords, IsDecimalAndBits) {
  EXPECT_EQ(words_of(Type::int8, std::int8_t{-2}), "-2 (0xfe)");
  EXPECT_EQ(words_of(Type::uint16, std::uint16_t{7}), "7 (0x0007)");
  EXPECT_EQ(words_of(Type::int64, std::int64_t{-1}), "-1 (0xffffffffffffffff)");
  EXPECT_EQ(words_of(Type::boolean, std::uint8_t{1}), "1 (0x01)");
  EXPECT_EQ(words_of(Type::fp8_e4m3, Float8E4M3{1.5F}), "1.5 (0x3c)");
  EXPECT_EQ(words_of(Type::fp8_e5m2, Float8E5M2{-2.0F}), "-2 (0xc0)");
  EXPECT_EQ(words_of(Type::fp16, Half{0.5F}), "0.5 (0x3800)");
  EXPECT_EQ(words_of(Type::bf16, BFloat16{-1.0F}), "-1 (0xbf80)");
  EXPECT_EQ(words_of(Type::fp32, 0.1F), "0.1 (0x3dcccccd)");
  EXPECT_EQ(words_of(Type::fp64, 0.1), "0.1 (0x3fb999999999999a)");
  EXPECT_EQ(words_of(Type::fp64, -0.0), "-0 (0x8000000000000000)");
  EXPECT_EQ(words_of(Type::complex_fp32, std::array{1.0F, -2.0F}), "1-2i (0x3f800000, 0xc0000000)");
  EXPECT_EQ(words_of(Type::complex_fp64, std::array{0.0, 0.5}), "0+0.5i (0x0000000000000000, 0x3fe0000000000000)");
}

TEST(ElementComparison, NamesTheFirstOverAllPieces) {
  ElementComparison elements{Type::int32};
  const std::array a{1, 2, 3, 4}, b{1, 2, 5, 6};
  const auto add = [&](const std::array<int, 4>& x, const std::array<int, 4>& y) {
    elements.add(reinterpret_cast<const std::byte*>(x.data()), reinterpret_cast<const std::byte*>(y.data()), sizeof x);
  };
  add(a, a);
  add(a, b);
  EXPECT_EQ(elements.in_words({"before", "after"}),
            "element 6 of 8 is 3 (0x00000003) before, 5 (0x00000005) after; 2 elements differ");
}

CallRecord call_of(RecordKind kind, std::uint64_t number, std::uint64_t hash) {
  CallRecord call{.kind = kind};
  call.action = static_cast<std::uint8_t>(records::Action::allreduce);
  call.type = static_cast<std::uint8_t>(Type::int32);
  call.number = call.call = number;
  call.count = 4;
  call.bytes = 16;
  call.hash = hash;
  return call;
}

/// A file of these calls, in this order; each has four numbers, its hash and three zeros, as data.
std::string write_file(const std::string& folder, const std::vector<CallRecord>& calls, std::int64_t deep = 1 << 20) {
  FileHeader header;
  header.deep = deep;
  Writer writer{folder, header};
  writer.begin();
  writer.add(CommunicatorRecord{.members = 5});
  for (CallRecord call : calls) {
    const std::array<int, 4> data{static_cast<int>(call.hash)};
    if (writer.take_room(call.bytes)) call.stored = call.bytes;
    writer.add(call);
    if (call.stored == 0) continue;
    writer.append(data.data(), sizeof data);
    writer.pad(call.bytes);
  }
  return writer.file().path();
}

std::string bytes_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

constexpr auto begins = RecordKind::begin, over = RecordKind::over;

/// All differences that a comparison with this file finds in these calls.
std::vector<std::string> compared(const std::string& path, const std::vector<CallRecord>& calls) {
  Comparison comparison{path, {"before", "after"}};
  for (const CallRecord& call : calls)
    comparison.add(call, CommunicatorRecord{.members = 5}, {});
  std::vector<std::string> found;
  if (comparison.first() != nullptr) found.push_back(comparison.in_words(*comparison.first()));
  found.push_back(
      fmt::format("{} of {}, {} left", comparison.counts().differing, comparison.counts().calls, comparison.left()));
  return found;
}

TEST(Comparison, FindsCallsThatEndInAnotherOrder) {
  const TemporaryFolder folder;
  const std::string path =
      write_file(folder.path(), {call_of(begins, 1, 1), call_of(begins, 2, 2), call_of(over, 2, 20),
                                 call_of(over, 1, 10), call_of(begins, 3, 3), call_of(over, 3, 30)});
  EXPECT_THAT(compared(path, {call_of(begins, 1, 1), call_of(begins, 2, 2), call_of(over, 1, 10), call_of(over, 2, 20),
                              call_of(begins, 3, 3), call_of(over, 3, 30)}),
              ElementsAre("0 of 3, 0 left"));
  // The result of call 2 is seen first, and that of call 1 comes first.
  EXPECT_THAT(
      compared(path, {call_of(begins, 1, 1), call_of(begins, 2, 2), call_of(over, 2, 21), call_of(over, 1, 11)}),
      ElementsAre(HasSubstr("call 1 of communicator 0/1 (allreduce of 4 int32, sum): the input of this rank is "
                            "the same, its result differs"),
                  "2 of 2, 1 left"));
  EXPECT_THAT(compared(path, {call_of(begins, 1, 9), call_of(over, 1, 9), call_of(begins, 4, 4)}),
              ElementsAre(HasSubstr("the input of this rank differs"), "2 of 2, 2 left"));
}

/// However many calls come between: nothing is read, and forgotten, for a call that is not there.
TEST(Comparison, FindsDifferencesBehindACallThatIsNotThere) {
  constexpr std::uint64_t many = 140'000;
  const TemporaryFolder folder;
  std::vector<CallRecord> calls;
  for (std::uint64_t call = 1; call <= many; ++call)
    calls.push_back(call_of(begins, call, call));
  const std::string path = write_file(folder.path(), calls, 0);
  Comparison comparison{path, {"before", "after"}};
  const CommunicatorRecord other{.members = 6};
  comparison.add(call_of(begins, 1, 1), other, {});  // the record has no call on this one
  calls[99].hash = 7;
  for (const CallRecord& call : calls)
    comparison.add(call, CommunicatorRecord{.members = 5}, {});
  EXPECT_EQ(comparison.counts().differing, 2U);
  EXPECT_EQ(comparison.counts().forgotten, 0U);
  EXPECT_EQ(comparison.left(), 0U);
  ASSERT_EQ(comparison.first_on_each().size(), 2U);
  EXPECT_EQ(comparison.first_on_each().begin()->second.call.number, 100U);
}

/// One record that nobody asks for, at the front.
TEST(Comparison, CountsCallsThatWereNotMade) {
  constexpr std::uint64_t many = 140'000;
  const TemporaryFolder folder;
  FileHeader header;
  Writer writer{folder.path(), header};
  writer.begin();
  writer.add(CommunicatorRecord{.members = 6});
  writer.add(CommunicatorRecord{.number = 1, .members = 5});
  writer.add(call_of(begins, 1, 1));
  std::vector<CallRecord> calls;
  for (std::uint64_t call = 1; call <= many; ++call) {
    calls.push_back(call_of(begins, call, call));
    calls.back().communicator = 1;
    writer.add(calls.back());
  }
  writer.finish();
  EXPECT_THAT(compared(writer.file().path(), calls), ElementsAre(fmt::format("0 of {}, 1 left", many)));
}

/// A program that was killed may have made more calls than its record has.
TEST(Comparison, DoesNotJudgeCallsBehindAnEarlyEnd) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder.path(), {call_of(begins, 1, 1), call_of(over, 1, 1)}, 0);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - record_bytes);  // that of the end
  Comparison comparison{path, {"before", "after"}};
  for (const CallRecord& call :
       {call_of(begins, 1, 1), call_of(over, 1, 1), call_of(begins, 2, 2), call_of(over, 2, 2)})
    comparison.add(call, CommunicatorRecord{.members = 5}, {});
  EXPECT_FALSE(comparison.is_whole());
  EXPECT_EQ(comparison.first(), nullptr);
  EXPECT_EQ(comparison.counts().beyond, 1U);
}

TEST(Comparison, KeepsMessagesAndCollectivesApart) {
  const TemporaryFolder folder;
  CallRecord message = call_of(begins, 1, 1);
  message.action = static_cast<std::uint8_t>(records::Action::messages);
  Comparison comparison{write_file(folder.path(), {message, call_of(begins, 1, 1)}, 0), {"before", "after"}};
  message.hash = 2;
  comparison.add(message, CommunicatorRecord{.members = 5}, {});
  comparison.add(call_of(begins, 1, 3), CommunicatorRecord{.members = 5}, {});
  EXPECT_EQ(comparison.first_on_each().size(), 2U);
}

TEST(Writer, LeavesAnOlderRecordUntilItBegins) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder.path(), {call_of(begins, 1, 1)});
  const std::string before = bytes_of(path);
  Writer{folder.path(), FileHeader{}}.withdraw();
  EXPECT_EQ(bytes_of(path), before);
  { const Writer never_begun{folder.path(), FileHeader{}}; }
  EXPECT_EQ(bytes_of(path), before);
  const TemporaryFolder empty;
  Writer{empty.path(), FileHeader{}}.withdraw();
  EXPECT_TRUE(std::filesystem::is_empty(empty.path()));
}

TEST(Writer, LeavesNoFileWhereItHasNothingToWrite) {
  const TemporaryFolder folder;
  Writer writer{folder.path(), FileHeader{}};
  writer.begin();
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  writer.withdraw();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// A device stays, whatever cannot be written to it.
TEST(Writer, CannotBeginOnAFullDevice) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", path_of(folder.path(), 0));
  {
    Writer writer{folder.path(), FileHeader{}};
    EXPECT_THROW(writer.begin(), Error);
  }
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
}

/// A program closes all descriptors, and opens a file of its own, which gets the same number.
TEST(Writer, DoesNotWriteIntoFilesOfTheProgram) {
  const TemporaryFolder folder;
  FileHeader header;
  Writer writer{folder.path() + "/record", header};
  writer.begin();
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(next);
  ::close(next - 1);  // that of the writer, as the one opened last
  const std::string own = folder.path() + "/own";
  ASSERT_EQ(::open(own.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666), next - 1);
  writer.add(CommunicatorRecord{.members = 5});
  writer.add(call_of(begins, 1, 1));
  writer.finish();
  EXPECT_EQ(std::filesystem::file_size(own), 0U);
  EXPECT_EQ(::close(next - 1), 0);
}

/// As a child of a fork, whose exit may move the place of a descriptor that it shares.
TEST(Reader, DoesNotDependOnThePlaceOfItsDescriptor) {
  const TemporaryFolder folder;
  Reader reader{write_file(folder.path(), {call_of(begins, 1, 1), call_of(over, 1, 1)})};
  const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(next);
  EXPECT_EQ(::lseek(next - 1, 3, SEEK_SET), 3);
  EXPECT_TRUE(reader.next());
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.is_closed());
}

TEST(Comparison, NamesAnElement) {
  const TemporaryFolder folder;
  const std::string path = write_file(folder.path(), {call_of(begins, 1, 1)});
  Comparison comparison{path, {"before", "after"}};
  const std::array<int, 4> now{1, 0, 7, 0};
  EXPECT_TRUE(comparison.add(call_of(begins, 1, 8), CommunicatorRecord{.members = 5}, [&](const TakeData& take) {
    take(reinterpret_cast<const std::byte*>(now.data()), sizeof now);
  }));
  EXPECT_THAT(comparison.in_words(*comparison.first()),
              HasSubstr("element 2 of 4 is 0 (0x00000000) before, 7 (0x00000007) after; 1 element differs"));
}

TEST(Writer, StoresAsManyDataAsItMay) {
  const TemporaryFolder folder;
  Reader reader{write_file(folder.path(), {call_of(begins, 1, 1), call_of(over, 1, 1), call_of(begins, 2, 2)}, 40)};
  std::vector<std::int64_t> stored;
  while (const auto call = reader.next())
    stored.push_back(call->record.stored);
  EXPECT_THAT(stored, ElementsAre(16, 16, 0));
  EXPECT_TRUE(reader.is_closed());
}

/// Reads all of it; false: it is damaged.
bool reads(const std::string& path, const std::string& bytes) {
  std::ofstream{path, std::ios::binary} << bytes;
  try {
    Reader reader{path};
    while (reader.next()) {
    }
    return reader.is_closed();
  } catch (const FileError& error) {
    EXPECT_THAT(error.what(), HasSubstr(path));
    return false;
  }
}

TEST(Reader, RefusesWhatIsCutOrChanged) {
  const TemporaryFolder folder;
  const std::string whole = bytes_of(write_file(folder.path(), {call_of(begins, 1, 1), call_of(over, 1, 2)}));
  const std::string path = folder.path() + "/damaged";
  EXPECT_TRUE(reads(path, whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(reads(path, whole.substr(0, size))) << size << " bytes";
  EXPECT_FALSE(reads(path, whole + "x"));
  // Data have no checksum but their hash.
  const std::size_t first = sizeof(FileHeader), call = first + record_bytes, data = call + record_bytes;
  for (std::size_t at = first; at < whole.size(); ++at) {
    const bool is_data =
        (at >= data && at < data + 16) || (at >= data + 16 + record_bytes && at < data + 32 + record_bytes);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_EQ(reads(path, changed), is_data) << "byte " << at;
  }
}

RankDifference difference(int rank, std::uint64_t communicator, std::uint64_t number, Difference what) {
  return {
      .rank = rank, .key = {communicator, number, false, false}, .what = what, .where = fmt::format("call {}", number)};
}

TEST(Verdict, IsOfTheFirstCallOfAllRanks) {
  const auto verdicts =
      verdicts_of({difference(3, 1, 9, Difference::results), difference(2, 1, 7, Difference::inputs),
                   difference(0, 1, 7, Difference::results), difference(1, 1, 7, Difference::results)});
  ASSERT_EQ(verdicts.size(), 1U);
  EXPECT_EQ(in_words(verdicts[0], {}),
            "call 7: the program made the difference: inputs differ on rank 2; results differ on ranks 0-1");
  EXPECT_EQ(in_words(verdicts_of({difference(0, 1, 7, Difference::results)})[0], {}),
            "call 7: inputs are the same on all ranks, the result alone differs: results differ on rank 0");
  EXPECT_EQ(verdicts_of({difference(0, 1, 7, Difference::results), difference(1, 2, 1, Difference::results)}).size(),
            2U);
}

/// What was not compared may have been the cause.
TEST(Verdict, KnowsNothingOfRanksThatWereNotCompared) {
  const auto verdicts = verdicts_of({difference(0, 1, 7, Difference::results)});
  EXPECT_EQ(in_words(verdicts[0], {1, 2}),
            "call 7: inputs are the same on the ranks compared, not all of which were: ranks 1-2: results differ on "
            "rank 0");
  EXPECT_THAT(in_words(verdicts_of({difference(0, 1, 7, Difference::inputs)})[0], {1}),
              HasSubstr("the program made the difference: inputs differ on rank 0"));
}

/// Each rank numbers its messages alone.
TEST(Verdict, IsOfEachRankForMessages) {
  RankDifference a = difference(0, 1, 7, Difference::inputs), b = difference(1, 1, 7, Difference::results);
  a.key.are_messages = b.key.are_messages = true;
  const auto verdicts = verdicts_of({a, b});
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_THAT(in_words(verdicts[1], {}), HasSubstr("the inputs of this rank are the same, the result alone differs"));
}

}  // namespace
}  // namespace tutti::bits
