// Which socket this process is on, by a /sys of the test's own.
#include "lib/core/communicator/socket.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace tutti::mpi {
namespace {

class Socket : public testing::Test {
 protected:
  Socket() {
    CPU_ZERO(&allowed_);
    sched_getaffinity(0, sizeof allowed_, &allowed_);
  }
  ~Socket() override { std::filesystem::remove_all(sys_); }
  /// Writes, for each processor that this process may run on, the socket that the system states, as text.
  void describe(const std::function<std::string(int)>& socket_of) {
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &allowed_)) continue;
      const auto folder = sys_ / fmt::format("devices/system/cpu/cpu{}/topology", processor);
      std::filesystem::create_directories(folder);
      std::ofstream{folder / "physical_package_id"} << socket_of(processor) << '\n';
    }
  }

  cpu_set_t allowed_;
  std::filesystem::path sys_ = std::filesystem::temp_directory_path() / fmt::format("tutti-socket-{}", ::getpid());
};

TEST_F(Socket, IsThatOfAllProcessors) {
  describe([](int) { return "3"; });
  EXPECT_EQ(own_socket(sys_), 3);
}

TEST_F(Socket, IsUnknownIfThereAreSeveral) {
  if (CPU_COUNT(&allowed_) < 2) GTEST_SKIP() << "this process may run on one processor only";
  int next = 0;
  describe([&next](int) { return std::to_string(next++); });
  EXPECT_EQ(own_socket(sys_), unknown_socket);
}

TEST_F(Socket, IsUnknownIfTheSystemDoesNotSay) {
  EXPECT_EQ(own_socket(sys_), unknown_socket);
  for (const char* said : {"", "-1", "none"}) {
    describe([said](int) { return said; });
    EXPECT_EQ(own_socket(sys_), unknown_socket) << said;
  }
}

TEST(FirstOnSocket, IsOfTheNodeIfAnySocketIsUnknown) {
  const std::vector<Local> known{{2, 1}, {3, 0}, {5, 1}, {7, 0}};
  EXPECT_EQ(first_on_socket(known, 2), 2);
  EXPECT_EQ(first_on_socket(known, 5), 2);
  EXPECT_EQ(first_on_socket(known, 7), 3);
  std::vector<Local> partly = known;
  partly[2].socket = unknown_socket;
  for (const Local& local : partly)
    EXPECT_EQ(first_on_socket(partly, local.rank), 2);
}

}  // namespace
}  // namespace tutti::mpi
