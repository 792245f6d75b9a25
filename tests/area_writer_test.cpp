// How pieces are written to areas that others have read: the cheaper way, as measured.
#include "lib/shm/area_writer.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "lib/reduce/kernels.hpp"

namespace tutti::shm {
namespace {

using Way = AreaWriter::Way;
constexpr std::size_t bytes = 65536;

/// Writes pieces at these costs in microseconds; gives how many went past the caches.
int past_caches_of(AreaWriter& writer, int pieces, double cached, double past_caches) {
  int count = 0;
  for (int i = 0; i < pieces; ++i) {
    const Way way = writer.choose();
    count += way == Way::past_caches ? 1 : 0;
    writer.add(way, bytes, AreaWriter::Seconds{(way == Way::past_caches ? past_caches : cached) * 1e-6});
  }
  return count;
}

TEST(AreaWriter, TriesBothWaysFirst) {
  AreaWriter writer;
  const int count = past_caches_of(writer, 16, 2, 5);
  EXPECT_GE(count, 4);
  EXPECT_LE(count, 12);
}

TEST(AreaWriter, TakesTheCheaperWayAndTriesTheOtherNowAndThen) {
  AreaWriter near;
  past_caches_of(near, 16, 2, 5);
  const int of_near = past_caches_of(near, 2560, 2, 5);
  EXPECT_GE(of_near, 5);
  EXPECT_LE(of_near, 20);
  AreaWriter far;
  past_caches_of(far, 16, 16, 5);
  const int of_far = past_caches_of(far, 2560, 16, 5);
  EXPECT_GE(of_far, 2540);
  EXPECT_LE(of_far, 2555);
}

TEST(AreaWriter, ChangesItsMindAsRanksMove) {
  AreaWriter writer;
  past_caches_of(writer, 1000, 2, 5);
  past_caches_of(writer, 5000, 16, 5);
  EXPECT_GE(past_caches_of(writer, 1000, 16, 5), 990);
  past_caches_of(writer, 5000, 2, 5);
  EXPECT_LE(past_caches_of(writer, 1000, 2, 5), 10);
}

TEST(AreaWriter, ForgivesOnePieceThatTookLong) {
  AreaWriter writer;
  past_caches_of(writer, 1000, 3, 6);
  writer.add(Way::cached, bytes, AreaWriter::Seconds{0.01});
  EXPECT_LE(past_caches_of(writer, 100, 3, 6), 10);
}

TEST(AreaWriter, ForgivesAFirstPieceThatTookLong) {
  AreaWriter writer;
  writer.add(Way::cached, bytes, AreaWriter::Seconds{0.01});
  past_caches_of(writer, 16, 3, 6);
  EXPECT_LE(past_caches_of(writer, 100, 3, 6), 10);
}

TEST(AreaWriter, WritesWhatItIsGiven) {
  AreaWriter writer;
  int past_caches = 0;
  for (std::size_t i = 1; i < 64; ++i) {
    const std::size_t size = i * 1031, at = i;  // at any place in a line
    std::vector<std::byte> data(size), area(size + 2 * 64, std::byte{1});
    for (std::size_t k = 0; k < size; ++k)
      data[k] = static_cast<std::byte>(k * 7 + i);
    const Way way = writer.write(area.data() + at, data.data(), size);
    EXPECT_TRUE(size >= 4096 || way == Way::cached) << size << " bytes";
    past_caches += way == Way::past_caches ? 1 : 0;
    for (std::size_t k = 0; k < area.size(); ++k)
      ASSERT_EQ(area[k], k < at || k >= at + size ? std::byte{1} : data[k - at]) << size << " bytes, " << k;
  }
  EXPECT_EQ(past_caches > 0, has_streaming_kernels());
}

}  // namespace
}  // namespace tutti::shm
