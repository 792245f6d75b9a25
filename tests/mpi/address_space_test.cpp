// What the first communicator takes of the process's numbers of files, and of its address space.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

constexpr std::int64_t mebi = 1 << 20, gibi = 1 << 30;

/// "VmSize" or "VmRSS" of this process, in bytes.
std::int64_t status(const std::string& name) {
  std::ifstream file{"/proc/self/status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  return -1;
}

/// What a program prints goes to no file of Tutti's. In a process of its own: of the first communicator.
TEST(Descriptors, AreNoneOfTheStandardOnes) {
  std::array<int, 3> kept{};
  for (int standard = 0; standard < 3; ++standard) {
    kept[static_cast<std::size_t>(standard)] = fcntl(standard, F_DUPFD_CLOEXEC, 100);
    close(standard);
  }
  {
    const Communicator comm{MPI_COMM_WORLD};
    expect_works(comm);
    for (int standard = 0; standard < 3; ++standard)
      EXPECT_EQ(fcntl(standard, F_GETFD), -1) << standard;
  }
  for (int standard = 0; standard < 3; ++standard) {
    dup2(kept[static_cast<std::size_t>(standard)], standard);
    close(kept[static_cast<std::size_t>(standard)]);
  }
}

/// Limits of batch systems, and RLIMIT_AS.
TEST(AddressSpace, IsTakenWithTheFirstAllocation) {
  const std::int64_t before = status("VmSize");
  const Communicator comm{MPI_COMM_WORLD};
  expect_works(comm);
  EXPECT_LT(status("VmSize") - before, gibi);
  if (comm.message_counters().shm.sent == 0 && comm.size() > 1) GTEST_SKIP() << "no memory is shared here";
  SharedBuffer<double> buffer{1000};
  allreduce(buffer.span(), Op::max, comm);
  EXPECT_GT(status("VmSize") - before, 100 * gibi);
}

/// mlockall() brings all pages that may be accessed into memory.
TEST(AddressSpace, LockedMemoryIsThatInUse) {
  const Communicator comm{MPI_COMM_WORLD};
  expect_works(comm);
  const std::int64_t before = status("VmRSS");
  SharedBuffer<double> first{1000};
  const int is_locked = mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 1 : 0;
  SharedBuffer<double> second{1000};
  allreduce(second.span(), Op::max, comm);
  allreduce(first.span(), Op::max, comm);
  expect_works(Communicator{MPI_COMM_WORLD});
  EXPECT_LT(status("VmRSS") - before, 512 * mebi);
  munlockall();
  if (is_locked == 0) GTEST_SKIP() << "this user may not lock memory (ulimit -l)";
}

}  // namespace
}  // namespace tutti::test
