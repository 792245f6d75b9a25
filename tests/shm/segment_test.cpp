// Memory that the ranks of a node share: it is shared, wrong uses are refused, and it has no name.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/shm/segment_support.hpp"

namespace tutti::shm {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// The mappings of segments in this process, as the system lists them.
std::vector<std::string> mapped_segments() {
  std::vector<std::string> found;
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);)
    if (line.find("/memfd:tutti") != std::string::npos) found.push_back(line);
  return found;
}

std::vector<std::string> names_with(const std::filesystem::path& folder, std::string_view part) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    if (entry.path().filename().string().find(part) != std::string::npos) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

TEST(Segment, IsTheSameMemoryOnAllRanks) {
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, small};
  EXPECT_TRUE(segment.reaches_all());
  EXPECT_EQ(segment.why_not(), "");
  EXPECT_EQ(segment.bytes(), small);
  expect_consistent(segment);
  expect_shared(segment);
  // All zero at first, where nobody wrote.
  const Mapping map = segment.map(Segment::first_free + page, small - Segment::first_free - page);
  EXPECT_TRUE(std::ranges::all_of(std::span{map.data(), static_cast<std::size_t>(map.bytes())},
                                  [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST(Segment, TwoAreDifferentMemory) {
  const Segment one{mpi::MpiBootstrap{MPI_COMM_WORLD}, small}, other{mpi::MpiBootstrap{MPI_COMM_WORLD}, small};
  const Mapping here = one.map(Segment::first_free, page), there = other.map(Segment::first_free, page);
  here.data()[world_rank()] = std::byte{1};
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(there.data()[world_rank()], std::byte{0});
}

TEST(Segment, ServesOtherCommunicators) {
  const Segment self{mpi::MpiBootstrap{MPI_COMM_SELF}, small};
  EXPECT_TRUE(self.reaches_all());
  MPI_Comm backwards = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &backwards);
  const Segment segment{mpi::MpiBootstrap{backwards}, small};
  MPI_Comm_free(&backwards);
  EXPECT_TRUE(segment.reaches_all());
  expect_shared(segment);
}

TEST(Segment, ReachesOnlyRanksThatThereAre) {
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, small};
  EXPECT_THROW(static_cast<void>(segment.reaches(world_size())), std::out_of_range);
  EXPECT_THROW(static_cast<void>(segment.reaches(-1)), std::out_of_range);
}

TEST(Segment, OfTerabytesTakesNoMemory) {
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, 4 * terabyte};
  EXPECT_TRUE(segment.reaches_all()) << segment.why_not();
  const Mapping end = segment.map(4 * terabyte - page, page);
  segment.reserve(4 * terabyte - page, page);
  if (world_rank() == 0) end.data()[page - 1] = std::byte{7};
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(end.data()[page - 1], std::byte{7});
  for (const int descriptor : segment_descriptors()) {
    struct stat facts {};
    ASSERT_EQ(::fstat(descriptor, &facts), 0);
    EXPECT_LE(facts.st_blocks * 512, std::int64_t{8} << 20);
  }
}

TEST(Segment, ReservesAndKeepsWhatIsThere) {
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, small + 64 * terabyte};
  const std::int64_t bytes = std::int64_t{20} << 20;  // more than is reserved at a time
  const Mapping map = segment.map(Segment::first_free, bytes);
  map.data()[world_rank()] = std::byte{5};
  segment.reserve(Segment::first_free, bytes);
  segment.reserve(Segment::first_free, bytes);
  segment.reserve(Segment::first_free + 1, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int rank = 0; rank < world_size(); ++rank)
    EXPECT_EQ(map.data()[rank], std::byte{5});
  struct stat facts {};
  ASSERT_EQ(::fstat(segment_descriptors().front(), &facts), 0);
  EXPECT_GE(facts.st_blocks * 512, bytes);
}

TEST(Segment, RefusesWindowsOutsideOfIt) {
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, small};
  const std::string end = std::to_string(small);
  expect_throw<Error>([&] { auto map = segment.map(0, small + 1); }, {"map", std::to_string(small + 1), end});
  expect_throw<Error>([&] { auto map = segment.map(small, 1); }, {"map", end, "rank " + std::to_string(world_rank())});
  expect_throw<Error>([&] { auto map = segment.map(-page, page); }, {"map", std::to_string(-page)});
  expect_throw<Error>([&] { auto map = segment.map(0, 0); }, {"map", "at least 1"});
  expect_throw<Error>([&] { auto map = segment.map(1, 1); }, {"offset 1", "page size"});
  expect_throw<Error>([&] { segment.reserve(small, 1); }, {"reserve", end});
  expect_throw<Error>([&] { segment.reserve(INT64_MAX, INT64_MAX); }, {"reserve", std::to_string(INT64_MAX)});
}

TEST(Segment, SaysWhyAMappingFails) {
  const std::int64_t bytes = std::int64_t{1} << 62;  // more than processors can address
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, bytes};
  EXPECT_TRUE(segment.reaches_all()) << segment.why_not();
  expect_throw<Error>([&] { auto map = segment.map(0, bytes); }, {std::to_string(bytes), std::strerror(ENOMEM)});
  expect_shared(segment);
}

TEST(Segment, OfNoBytesReachesNobody) {
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{-1}, Segment::first_free}) {
    const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, bytes};
    for (int rank = 0; rank < world_size(); ++rank)
      EXPECT_FALSE(segment.reaches(rank));
    EXPECT_THAT(segment.why_not(), HasSubstr(std::to_string(bytes) + " bytes"));
    expect_consistent(segment);
  }
}

TEST(Segment, CanBeMovedAndOutlivedByItsMappings) {
  const std::size_t before = open_files().size();
  Mapping map;
  {
    Segment first{mpi::MpiBootstrap{MPI_COMM_WORLD}, small};
    const Segment segment = std::move(first);
    EXPECT_TRUE(segment.reaches_all());
    map = segment.map(Segment::first_free, page);
    Mapping other = std::move(map);
    map = std::move(other);
  }
  EXPECT_EQ(open_files().size(), before);
  map.data()[world_rank()] = std::byte{3};
  MPI_Barrier(MPI_COMM_WORLD);
  for (int rank = 0; rank < world_size(); ++rank)
    EXPECT_EQ(map.data()[rank], std::byte{3});
  EXPECT_FALSE(mapped_segments().empty());
  map = Mapping{};
  EXPECT_THAT(mapped_segments(), IsEmpty());
}

TEST(SharedFile, RunningOutIsAnError) {
  // More than a file system's limit, which the kernel refuses before it takes any. No name here, either.
  Descriptor file{::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
  struct statvfs limit {};
  if (file.get() < 0 || ::fstatvfs(file.get(), &limit) != 0 || limit.f_blocks == 0)
    GTEST_SKIP() << "needs a /dev/shm with a limit";
  const std::int64_t too_much = static_cast<std::int64_t>(limit.f_blocks * limit.f_frsize) + page;
  ASSERT_EQ(::ftruncate(file.get(), too_much), 0);
  const SharedFile shared{std::move(file), too_much, 3};
  expect_throw<Error>([&] { shared.reserve(0, too_much); },
                      {"rank 3", std::to_string(too_much), std::strerror(ENOSPC)});
  struct stat facts {};
  ASSERT_EQ(::fstat(shared.descriptor(), &facts), 0);
  EXPECT_EQ(facts.st_blocks, 0);
}

TEST(SharedFile, RefusesWhatIsNoMemory) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const Descriptor writing{pipe[1]};
  EXPECT_THROW(SharedFile(Descriptor{pipe[0]}, page, 0), Error);
  expect_throw<Error>([] { SharedFile(Descriptor{}, page, 0); }, {"fstat", std::strerror(EBADF)});
  // Memory that may only be read.
  const SharedFile file = SharedFile::make(page, 0);
  const std::string path = "/proc/self/fd/" + std::to_string(file.descriptor());
  const SharedFile reading{Descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)}, page, 0};
  expect_throw<Error>([&] { reading.reserve(0, page); }, {std::to_string(page), std::strerror(EBADF)});
  expect_throw<Error>([&] { auto map = reading.map(0, page); }, {std::strerror(EACCES)});
}

TEST(SharedFile, CannotBeMadeSmaller) {
  const SharedFile file = SharedFile::make(page, 0);
  EXPECT_EQ(::ftruncate(file.descriptor(), 0), -1);  // else access to the mapping would raise a signal
  EXPECT_EQ(errno, EPERM);
}

/// A profiler's clock: a signal every tenth of a millisecond.
class Clock {
 public:
  Clock() {
    struct sigaction quiet {};
    quiet.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &quiet, &before_);
    const itimerval often{{0, 100}, {0, 100}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  ~Clock() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

TEST(SharedFile, ReservesInSpiteOfSignals) {
  const std::int64_t bytes = std::int64_t{64} << 20;
  const SharedFile file = SharedFile::make(bytes, 0);
  {
    const Clock clock;
    file.reserve(0, bytes);
  }
  struct stat facts {};
  ASSERT_EQ(::fstat(file.descriptor(), &facts), 0);
  EXPECT_GE(facts.st_blocks * 512, bytes);
}

TEST(Segment, HasNoNameAnywhere) {
  const auto here = std::filesystem::current_path();
  const auto names_here = names_with(here, "tutti");
  const auto files_before = open_files();
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, small};
  const Mapping map = segment.map(0, page);
  EXPECT_THAT(names_with("/dev/shm", "tutti"), IsEmpty());
  EXPECT_EQ(names_with(here, "tutti"), names_here);
  // All that is open now and was not before is the memory: the sockets are gone, and with them their names.
  std::vector<std::pair<int, std::string>> opened;
  std::ranges::set_difference(open_files(), files_before, std::back_inserter(opened));
  ASSERT_EQ(opened.size(), 1U);
  EXPECT_THAT(opened.front().second, HasSubstr("/memfd:tutti"));
  struct stat facts {};
  ASSERT_EQ(::fstat(opened.front().first, &facts), 0);
  EXPECT_EQ(facts.st_nlink, 0U);  // freed with its last holder, however that process ends
  EXPECT_EQ(::fcntl(opened.front().first, F_GETFD), FD_CLOEXEC);
  const auto mapped = mapped_segments();
  EXPECT_FALSE(mapped.empty());
  for (const std::string& line : mapped)
    EXPECT_THAT(line, HasSubstr("(deleted)"));
}

}  // namespace
}  // namespace tutti::shm
