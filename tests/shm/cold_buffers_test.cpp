// Writes to bounce buffers that were read elsewhere: every byte arrives at any alignment, by both ways.
#include "lib/core/transport/shm/eager/cold_buffers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "lib/core/transport/shm/eager/streaming_copy.hpp"
#include "lib/core/transport/shm/tuning.hpp"

namespace tutti::shm {
namespace {

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    data[i] = static_cast<std::byte>(i * 7 + i / 251);
  return data;
}

TEST(StreamingCopy, WritesEveryByteAndNoOther) {
  const std::vector<std::byte> from = numbered(5000);
  for (const std::size_t bytes : {0, 1, 15, 63, 64, 65, 127, 128, 129, 200, 4096, 4500})
    for (std::size_t source = 0; source < 70; source += 3)
      for (std::size_t at = 1; at < 66; ++at) {
        std::vector<std::byte> into(at + bytes + 70, std::byte{0xAA});
        copy_streaming(into.data() + at, from.data() + source, bytes);
        ASSERT_TRUE(std::equal(from.begin() + static_cast<std::ptrdiff_t>(source),
                               from.begin() + static_cast<std::ptrdiff_t>(source + bytes),
                               into.begin() + static_cast<std::ptrdiff_t>(at)))
            << bytes << " bytes from " << source << " to " << at;
        const auto is_old = [](std::byte value) { return value == std::byte{0xAA}; };
        ASSERT_TRUE(std::all_of(into.begin(), into.begin() + static_cast<std::ptrdiff_t>(at), is_old)) << bytes;
        ASSERT_TRUE(std::all_of(into.begin() + static_cast<std::ptrdiff_t>(at + bytes), into.end(), is_old)) << bytes;
      }
}

TEST(ColdBuffers, AreWrittenByBothWays) {
  const std::vector<std::byte> from = numbered(tuning.least_streamed + 1000);
  ColdBuffers buffers;
  int streamed = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<std::byte> into(from.size());
    streamed += buffers.write(into.data(), from.data(), into.size()) ? 1 : 0;
    ASSERT_EQ(into, from) << i;
  }
  EXPECT_EQ(streamed > 0, has_streaming_stores);
  EXPECT_LT(streamed, 100);
}

TEST(ColdBuffers, AreWrittenThroughTheCachesIfShort) {
  const std::vector<std::byte> from = numbered(tuning.least_streamed - 1);
  ColdBuffers buffers;
  for (int i = 0; i < 100; ++i) {
    std::vector<std::byte> into(from.size());
    ASSERT_FALSE(buffers.write(into.data(), from.data(), into.size()));
    ASSERT_EQ(into, from);
  }
}

}  // namespace
}  // namespace tutti::shm
