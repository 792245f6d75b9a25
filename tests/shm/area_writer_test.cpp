// How pieces are written to areas that others have read.
#include "lib/transport/shm/eager/area_writer.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "lib/reduce/kernels.hpp"

namespace tutti::shm {
namespace {

using Way = AreaWriter::Way;

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
