// The writer of traces: everything arrives as it was, in files that are good whenever the writer ends; memory and files
// stay within their bounds.
#include "lib/watch/trace/writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "lib/watch/trace/clock.hpp"
#include "tests/trace/trace_files.hpp"
#include "tutti/error.hpp"

namespace tutti::test {
namespace {

using testing::HasSubstr;
using trace::Writer;

trace::CommunicatorRecord a_communicator() { return {.number = 0, .rank = 1, .size = 3, .nodes = 1}; }

/// One operation of so many steps.
void add_operation(Writer& writer, int steps) {
  const std::uint64_t number = writer.next_operation();
  const auto begin = static_cast<std::int64_t>(1000 * number);
  writer.add(trace::BeginRecord{.operation = number, .begin = begin, .bytes = 8});
  for (int i = 0; i < steps; ++i)
    writer.add(trace::StepRecord{.action = trace::Action::send,
                                 .way = trace::Way::shm,
                                 .peer = 2,
                                 .operation = number,
                                 .begin = begin + i,
                                 .end = begin + i + 5,
                                 .bytes = i,
                                 .step = i,
                                 .accepted = begin + i + 2});
  writer.add(trace::EndRecord{.operation = number, .begin = begin, .turn = begin, .end = begin + steps + 10});
}

TEST(TraceWriter, KeepsEverythingAsItWas) {
  const TemporaryFolder folder;
  Writer writer{folder.path() + "/made/here", header_of(1, 3), no_limit};
  writer.begin();
  EXPECT_EQ(writer.path(), folder.path() + "/made/here/node1.1.tutti-trace");
  const std::string longest(56, 'x');
  EXPECT_EQ(writer.name("allreduce"), 1);
  EXPECT_EQ(writer.name(longest + "too long"), 2);
  EXPECT_EQ(writer.name("allreduce"), 1);
  EXPECT_EQ(writer.name(""), 0);
  writer.add(a_communicator());
  writer.add(trace::ClockRecord{.reference = 2, .leader = 1, .at = 77, .offset = -5, .round_trip = 12});
  add_operation(writer, 3);
  writer.add(trace::WaitRecord{.peer = 2, .operation = 1, .begin = 1000, .end = 1010, .idle = 8, .step = 2});
  writer.finish();

  const tool::TraceFile file = read(writer.path());
  EXPECT_EQ(file.host, "node1");
  EXPECT_EQ(file.rank, 1);
  EXPECT_EQ(file.ranks, 3);
  EXPECT_TRUE(file.is_closed);
  EXPECT_EQ(file.dropped, 0);
  EXPECT_THAT(file.names, testing::ElementsAre("", "allreduce", longest));
  ASSERT_EQ(file.communicators.size(), 1);
  EXPECT_EQ(file.communicators[0].size, 3);
  ASSERT_EQ(file.clocks.size(), 1);
  EXPECT_EQ(file.clocks[0].offset, -5);
  ASSERT_EQ(file.operations.size(), 1);
  EXPECT_EQ(file.operations[0].begun.bytes, 8);
  EXPECT_EQ(file.operations[0].end, 1013);
  ASSERT_EQ(file.steps.size(), 3);
  EXPECT_EQ(file.steps[2].bytes, 2);
  EXPECT_EQ(file.steps[2].accepted, 1004);
  ASSERT_EQ(file.waits.size(), 1);
  EXPECT_EQ(file.waits[0].idle, 8);
}

TEST(TraceWriter, FilesGrowBlockByBlock) {
  const TemporaryFolder folder;
  Writer writer{folder.path(), header_of(0, 1), no_limit};
  writer.begin();
  writer.add(a_communicator());
  constexpr int operations = 60, steps = 200;
  for (int i = 0; i < operations; ++i) {
    add_operation(writer, steps);
    writer.settle(0);
    const std::string bytes = bytes_of(writer.path());  // a kill at this moment leaves it
    const tool::TraceFile so_far = tool::read_trace(writer.path(), bytes, tool::Salvage::no);
    EXPECT_FALSE(so_far.is_closed);
    EXPECT_GE(so_far.steps.size() + trace::most_records, static_cast<std::size_t>(i + 1) * steps);
  }
  writer.finish();
  const tool::TraceFile file = read(writer.path());
  EXPECT_EQ(file.steps.size(), static_cast<std::size_t>(operations) * steps);
  EXPECT_GT(file.writings.size(), 5);
}

/// Without quiet moments, too: the blocks are written when they are full.
TEST(TraceWriter, MemoryIsBounded) {
  const TemporaryFolder folder;
  Writer writer{folder.path(), header_of(0, 1), no_limit};
  writer.begin();
  writer.add(a_communicator());
  writer.add(trace::BeginRecord{.operation = writer.next_operation()});
  constexpr std::uint64_t steps = 50'000;  // 3 MiB
  std::uint64_t most_in_memory = 0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    writer.add(trace::StepRecord{.peer = 1, .operation = 1});
    const std::uint64_t in_file = std::filesystem::file_size(writer.path()) / trace::record_bytes;
    most_in_memory = std::max(most_in_memory, i - std::min(i, in_file));
  }
  EXPECT_LE(most_in_memory * trace::record_bytes, std::size_t{1} << 20);
  EXPECT_GE(most_in_memory * trace::record_bytes, std::size_t{1} << 19);
  writer.finish();
  EXPECT_EQ(read(writer.path()).steps.size(), steps);
}

TEST(TraceWriter, FilesAreBounded) {
  const TemporaryFolder folder;
  constexpr std::int64_t limit = std::int64_t{1} << 20;
  Writer writer{folder.path(), header_of(0, 1), limit};
  writer.begin();
  writer.add(a_communicator());
  constexpr std::uint64_t operations = 5000, records = 12;
  for (std::uint64_t i = 0; i < operations; ++i) {
    add_operation(writer, records - 2);
    writer.settle(0);
  }
  EXPECT_GT(writer.dropped(), operations * records / 2);
  writer.finish();
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(writer.path()));
  EXPECT_LE(size, limit);
  EXPECT_GT(size, limit - 3 * static_cast<std::int64_t>(trace::block_bytes));
  const tool::TraceFile file = read(writer.path());
  EXPECT_TRUE(file.is_closed);
  EXPECT_EQ(file.dropped, writer.dropped());
  const std::uint64_t others = file.writings.size() + 2;  // the empty name, the communicator
  EXPECT_EQ(file.records - others + file.dropped, operations * records);
}

/// The file system is full, as far as this process goes.
TEST(TraceWriter, FilesThatCannotGrowEndTheTrace) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit most{1'000'000, 1'000'000};
    setrlimit(RLIMIT_FSIZE, &most);
    Writer writer{folder.path(), header_of(0, 1), no_limit};
    writer.begin();
    writer.add(a_communicator());
    testing::internal::CaptureStderr();
    for (int i = 0; i < 5000; ++i) {
      add_operation(writer, 10);
      writer.settle(0);
    }
    writer.finish();
    const std::string said = testing::internal::GetCapturedStderr();
    const bool is_told_once = said.find("the trace ends here") == said.rfind("the trace ends here");
    _exit(said.starts_with("tutti: rank 0: cannot write '") && is_told_once && writer.dropped() > 10'000 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::string path = folder.path() + "/node1.0.tutti-trace", bytes = bytes_of(path);
  const tool::TraceFile file = tool::read_trace(path, bytes, tool::Salvage::no);
  EXPECT_GT(file.steps.size(), 5000);
  EXPECT_GT(file.dropped, 10'000);
  EXPECT_TRUE(file.is_closed);
  EXPECT_LE(bytes.size(), 1'000'000);
}

TEST(TraceWriter, KilledProcessesLeaveGoodFiles) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    Writer writer{folder.path(), header_of(0, 1), no_limit};
    writer.begin();
    writer.add(a_communicator());
    for (int i = 0; i < 1000; ++i) {
      add_operation(writer, 10);
      writer.settle(0);
    }
    std::raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const tool::TraceFile file = read(folder.path() + "/node1.0.tutti-trace");
  EXPECT_FALSE(file.is_closed);
  EXPECT_GT(file.steps.size(), 9000);
}

/// A child that exits destroys its copy of the writer.
TEST(TraceWriter, ChildrenOfForksWriteNothing) {
  const TemporaryFolder folder;
  auto writer = std::make_unique<Writer>(folder.path(), header_of(0, 1), no_limit);
  writer->begin();
  writer->add(a_communicator());
  const pid_t child = fork();
  if (child == 0) {
    writer.reset();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(std::filesystem::file_size(writer->path()), sizeof(trace::FileHeader));
  const std::string path = writer->path();
  writer.reset();
  EXPECT_EQ(read(path).communicators.size(), 1);
}

TEST(TraceWriter, SlowProgramsAreWrittenEverySecond) {
  const TemporaryFolder folder;
  Writer writer{folder.path(), header_of(0, 1), no_limit};
  writer.begin();
  writer.add(a_communicator());
  writer.settle(trace::now());
  EXPECT_EQ(std::filesystem::file_size(writer.path()), sizeof(trace::FileHeader));
  writer.settle(trace::now() + 1'000'000'001);
  EXPECT_EQ(read(writer.path()).communicators.size(), 1);
}

TEST(TraceWriter, ReplacesTheFileOfAnEarlierRun) {
  const TemporaryFolder folder;
  for (const int steps : {1000, 3}) {
    Writer writer{folder.path(), header_of(0, 1), no_limit};
    writer.begin();
    writer.add(a_communicator());
    add_operation(writer, steps);
    writer.finish();
    EXPECT_EQ(read(writer.path()).steps.size(), steps);
  }
}

std::string refusal_of(const std::string& folder) {
  try {
    Writer writer{folder, header_of(0, 1), no_limit};
    writer.begin();
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TraceWriter, RefusesFoldersThatCannotBeWritten) {
  const TemporaryFolder folder;
  std::ofstream{folder.path() + "/file"} << "no folder";
  EXPECT_THAT(refusal_of(folder.path() + "/file"), HasSubstr("cannot"));
  EXPECT_THAT(refusal_of(folder.path() + "/file/deeper"), HasSubstr("cannot make the folder '"));
  EXPECT_THAT(refusal_of("/proc/1/traces"), HasSubstr("cannot make the folder '/proc/1/traces'"));
  std::filesystem::create_directory(folder.path() + "/node1.0.tutti-trace");
  EXPECT_THAT(refusal_of(folder.path()), HasSubstr("node1.0.tutti-trace': Is a directory"));
}

TEST(TraceWriter, RefusesAFileThatAnotherProgramWrites) {
  const TemporaryFolder folder;
  Writer writer{folder.path(), header_of(0, 1), no_limit};
  writer.begin();
  EXPECT_THAT(refusal_of(folder.path()), HasSubstr("another process writes it"));
}

}  // namespace
}  // namespace tutti::test
