// Thousands of communicators, made, used and freed: TUTTI_TEST_COMMUNICATORS of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/interpose/works.hpp"

namespace tutti::test {
namespace {

struct Resources {
  std::int64_t memory, descriptors, shared_mappings;
};

std::int64_t entries(const char* folder) {
  const std::filesystem::directory_iterator all{folder};
  return std::distance(begin(all), end(all));
}

/// Mappings of files in shared memory, deleted ones too. Files of other processes come and go in the folder itself.
std::int64_t shared_mappings() {
  std::ifstream maps{"/proc/self/maps"};
  std::int64_t found = 0;
  for (std::string line; std::getline(maps, line);)
    if (line.find("/dev/shm") != std::string::npos || line.find("/memfd:") != std::string::npos) ++found;
  return found;
}

Resources used() {
  std::ifstream statm{"/proc/self/statm"};
  std::int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return {resident * 4096, entries("/proc/self/fd"), shared_mappings()};
}

void make_use_and_free(int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ASSERT_TRUE(works(comm));
    MPI_Comm_free(&comm);
  }
}

TEST(Communicators, LeaveNothingBehind) {
  const int times = std::stoi(std::getenv("TUTTI_TEST_COMMUNICATORS"));
  make_use_and_free(times / 10);
  const Resources before = used();
  make_use_and_free(times - times / 10);
  const Resources after = used();
  constexpr std::int64_t most = 2 << 20U;  // of which MPI's own bookkeeping is a part
  EXPECT_LT(after.memory - before.memory, most);
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_LE(after.shared_mappings, before.shared_mappings);
}

}  // namespace
}  // namespace tutti::test
