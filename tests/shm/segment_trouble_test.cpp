// Memory that the ranks of a node share: the ranks that are attached when something fails on one of them. All ranks
// must say the same.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/shm/segment_support.hpp"

namespace tutti::shm {
namespace {

using testing::HasSubstr;

/// A limit of this process, for a while.
class Limit {
 public:
  Limit(__rlimit_resource which, rlim_t most) : which_(which) {
    ::getrlimit(which, &before_);
    const rlimit now{most, before_.rlim_max};
    EXPECT_EQ(::setrlimit(which, &now), 0) << std::strerror(errno);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { ::setrlimit(which_, &before_); }

 private:
  __rlimit_resource which_;
  rlimit before_{};
};

/// Leaves `free` descriptors to open, for a while: a limit just above those in use, with the gaps below filled.
class FewDescriptors {
 public:
  explicit FewDescriptors(int free)
      : limit_(RLIMIT_NOFILE, static_cast<rlim_t>(open_files().back().first) + 1 + static_cast<rlim_t>(free)) {
    for (int filler = ::dup(0); filler >= 0; filler = ::dup(0))
      fillers_.push_back(filler);
    for (; free > 0; --free) {
      ::close(fillers_.back());
      fillers_.pop_back();
    }
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() {
    for (const int filler : fillers_)
      ::close(filler);
  }

 private:
  Limit limit_;
  std::vector<int> fillers_;
};

/// Makes a segment while `Trouble` made from `arguments` is there on the rank `victim`. All descriptors but the
/// segment's own must be closed again.
template <class Trouble, class... Arguments>
Segment with_trouble_on(int victim, std::int64_t bytes, Arguments... arguments) {
  const std::size_t before = open_files().size();
  auto make = [&] {
    if (world_rank() != victim) return Segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, bytes};
    const Trouble trouble{arguments...};
    return Segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, bytes};
  };
  Segment made = make();
  EXPECT_EQ(open_files().size(), before + (made.reaches(world_rank()) ? 1 : 0));
  return made;
}

/// Only `victim` may be missing; all others, if `others_in`, and none otherwise.
void expect_without(const Segment& segment, int victim, bool others_in, std::string_view why) {
  for (int rank = 0; rank < world_size(); ++rank)
    EXPECT_EQ(segment.reaches(rank), others_in && rank != victim) << rank;
  EXPECT_FALSE(segment.reaches_all());
  EXPECT_THAT(segment.why_not(), HasSubstr(why));
  EXPECT_THAT(segment.why_not(), HasSubstr("rank " + std::to_string(victim) + " of"));
  expect_consistent(segment);
  expect_shared(segment);
}

TEST(SegmentTrouble, OfOtherSizesLeavesThoseRanksOut) {
  const bool is_last = world_rank() == world_size() - 1;
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, is_last && world_size() > 1 ? small + page : small};
  if (world_size() > 1) expect_without(segment, world_size() - 1, true, "were expected");
}

TEST(SegmentTrouble, NoFilesAsLargeAllowed) {
  for (int victim = 0; victim < world_size(); ++victim) {
    const Segment segment = with_trouble_on<Limit>(victim, terabyte, RLIMIT_FSIZE, rlim_t{1} << 30);
    if (victim == 0)
      for (int rank = 0; rank < world_size(); ++rank)
        EXPECT_FALSE(segment.reaches(rank));
    else  // the file was made elsewhere, with the size that it has
      EXPECT_TRUE(segment.reaches_all()) << segment.why_not();
    EXPECT_THAT(segment.why_not(), victim == 0 ? HasSubstr("1073741824") : HasSubstr(""));
    expect_consistent(segment);
    expect_shared(segment);
  }
}

TEST(SegmentTrouble, ReservesUnderALimitForFiles) {
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, terabyte};
  const Limit limit{RLIMIT_FSIZE, rlim_t{1} << 30};
  segment.reserve(terabyte / 2, page);  // no signal
  expect_shared(segment);
}

/// Without a descriptor left this sanitizer reports false errors: it opens a pipe to see whether memory may be read.
bool needs_descriptors_itself() {
  return std::string_view{TUTTI_SANITIZED}.find("undefined") != std::string_view::npos;
}

TEST(SegmentTrouble, NoDescriptorLeft) {
  if (needs_descriptors_itself()) GTEST_SKIP() << "UBSan needs descriptors itself";
  for (int victim = 0; victim < world_size(); ++victim) {
    const Segment segment = with_trouble_on<FewDescriptors>(victim, small, 0);
    expect_without(segment, victim, victim != 0, victim == 0 ? "memfd_create: Too many" : "socket: Too many");
  }
}

TEST(SegmentTrouble, OneDescriptorLeft) {
  if (needs_descriptors_itself()) GTEST_SKIP() << "UBSan needs descriptors itself";
  if (world_size() == 1) GTEST_SKIP() << "one is enough for one rank";
  for (int victim = 0; victim < world_size(); ++victim) {
    const Segment segment = with_trouble_on<FewDescriptors>(victim, small, 1);
    // Enough for rank 0's memory or for another's socket, which then cannot take the memory's descriptor.
    expect_without(segment, victim, victim != 0, victim == 0 ? "socket: Too many" : "could not be taken");
  }
}

TEST(SegmentTrouble, TwoDescriptorsLeft) {
  if (needs_descriptors_itself()) GTEST_SKIP() << "UBSan needs descriptors itself";
  if (world_size() == 1) GTEST_SKIP() << "one is enough for one rank";
  for (int victim = 0; victim < world_size(); ++victim) {
    const Segment segment = with_trouble_on<FewDescriptors>(victim, small, 2);
    for (int rank = 0; rank < world_size(); ++rank)
      EXPECT_EQ(segment.reaches(rank), victim != 0 || rank == 0) << rank;
    // Enough for rank 0's memory and its socket, which then cannot accept; all that another rank needs.
    EXPECT_THAT(segment.why_not(), HasSubstr(victim == 0 ? "accept of connection 1 of" : ""));
    expect_consistent(segment);
    expect_shared(segment);
  }
}

/// Network of its own, in which there are no sockets of others, for the calling thread.
class OtherNetwork {
 public:
  OtherNetwork()
      : before_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)), moved_(::unshare(CLONE_NEWNET) == 0) {}
  OtherNetwork(const OtherNetwork&) = delete;
  OtherNetwork& operator=(const OtherNetwork&) = delete;
  ~OtherNetwork() {
    EXPECT_TRUE(!moved_ || ::setns(before_, CLONE_NEWNET) == 0) << std::strerror(errno);
    ::close(before_);
  }
  [[nodiscard]] bool moved() const { return moved_; }

 private:
  int before_;
  bool moved_;
};

TEST(SegmentTrouble, CannotConnect) {
  int possible = OtherNetwork{}.moved() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (possible == 0) GTEST_SKIP() << "needs the right to make network namespaces";
  for (int victim = 1; victim < world_size(); ++victim) {
    const Segment segment = with_trouble_on<OtherNetwork>(victim, small);
    expect_without(segment, victim, true, "connect to a Unix socket: Connection refused");
  }
}

TEST(SegmentTrouble, CannotMap) {
  if (!std::string_view{TUTTI_SANITIZED}.empty()) GTEST_SKIP() << "sanitizers need memory as they go";
  for (int victim = 0; victim < world_size(); ++victim) {
    // Nothing more can be mapped; the heap has room enough for the allocations.
    const Segment segment = with_trouble_on<Limit>(victim, small, RLIMIT_AS, rlim_t{1} << 20);
    expect_without(segment, victim, victim != 0, "mmap");
  }
}

TEST(SegmentTrouble, LeavesTheNextOneInOrder) {
  static_cast<void>(with_trouble_on<Limit>(0, small, RLIMIT_FSIZE, rlim_t{1} << 10));
  const Segment segment{mpi::MpiBootstrap{MPI_COMM_WORLD}, small};
  EXPECT_TRUE(segment.reaches_all()) << segment.why_not();
  expect_shared(segment);
}

}  // namespace
}  // namespace tutti::shm
