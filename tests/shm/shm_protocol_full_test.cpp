// Ten million messages between threads, with random delays; says how many.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/shm/shm_threads.hpp"

namespace tutti::shm::test {
namespace {

TEST(ProtocolInFull, TenMillionMessages) {
  Geometry geometry;
  geometry.buffer_bytes = 8 * 1024L;
  Load load;
  load.most_bytes = geometry.buffer_bytes;
  for (int lane = 0; lane < geometry.lanes; ++lane)
    load.lanes.push_back(lane);
  load.messages = 10'000'000 / (3 * 2 * load.lanes.size()) + 1;
  load.publications = 20'000;
  const Outcome outcome = run_threads(geometry, 3, load);
  std::printf("%llu messages, %llu corrupted\n", static_cast<unsigned long long>(outcome.messages),
              static_cast<unsigned long long>(outcome.corrupted));
  EXPECT_GE(outcome.messages, 10'000'000);
  EXPECT_EQ(outcome.corrupted, 0);
}

}  // namespace
}  // namespace tutti::shm::test
