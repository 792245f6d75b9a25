// TUTTI_LOG=info: what communicators are made of. In a process of its own, as both settings are read once.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

/// Rank 0 tells of a later communicator only what differs.
TEST(Log, TellsOfLaterCommunicatorsWhatDiffers) {
  const std::string path = "/tmp/tutti-log-test." + std::to_string(getpid());
  const Setting level{"TUTTI_LOG", "info"}, file{"TUTTI_LOG_FILE", path.c_str()};
  const Communicator first{MPI_COMM_WORLD};
  const std::size_t of_first = lines_of(path).size();
  const Communicator second{MPI_COMM_WORLD};
  const Communicator third{MPI_COMM_WORLD, {.algorithms = "allreduce=ring"}};
  expect_works(third);
  const std::vector<std::string> lines = lines_of(path);
  std::remove(path.c_str());
  if (world_rank() != 0) {
    EXPECT_TRUE(lines.empty());
    return;
  }
  const std::string ranks = std::to_string(world_size()) + (world_size() == 1 ? " rank on " : " ranks on ");
  EXPECT_GT(of_first, 15);
  ASSERT_EQ(lines.size(), of_first + 4);
  EXPECT_THAT(lines[0], testing::HasSubstr(ranks));
  EXPECT_THAT(lines[of_first], testing::AllOf(testing::HasSubstr(ranks), testing::EndsWith("; else as told before")));
  EXPECT_THAT(lines[of_first + 2], testing::HasSubstr("algorithm of allreduce: ring, of the communicator's setting"));
  EXPECT_THAT(lines[of_first + 3], testing::EndsWith("allreduce: ring"));
}

}  // namespace
}  // namespace tutti::test
