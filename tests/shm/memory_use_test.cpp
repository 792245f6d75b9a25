// The memory of a node's segment: bounce buffers grow with the ranks, and only small cells with the pairs.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "lib/core/transport/shm/links.hpp"
#include "tests/shm/segment_support.hpp"

namespace tutti::shm {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// Memory of the one segment that this process has.
std::int64_t bytes_of_segment() {
  const std::vector<int> descriptors = segment_descriptors();
  EXPECT_EQ(descriptors.size(), 1U);
  struct stat status {};
  EXPECT_EQ(::fstat(descriptors.front(), &status), 0);
  return static_cast<std::int64_t>(status.st_blocks) * 512;
}

/// All ranks of a node in this process, of which each pair exchanges messages larger than a cell.
std::int64_t measured(int ranks) {
  const Geometry geometry = Geometry::for_ranks(ranks);
  const auto segment =
      std::make_shared<Segment>(mpi::MpiBootstrap{MPI_COMM_SELF}, Segment::first_free + geometry.window_bytes(ranks));
  std::vector<std::unique_ptr<Links>> all;
  for (int me = 0; me < ranks; ++me)
    all.push_back(std::make_unique<Links>(segment, nullptr, geometry, Segment::first_free, ranks, me));
  const std::int64_t before = bytes_of_segment();
  for (int me = 0; me < ranks; ++me)
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != me) {
        static_cast<void>(all[static_cast<std::size_t>(me)]->open(peer));
        all[static_cast<std::size_t>(me)]->reserve_buffers(peer);
      }
  const std::int64_t used = bytes_of_segment() - before;
  std::printf("%d ranks: %.1f MiB, of which %.1f MiB bounce buffers\n", ranks, static_cast<double>(used) / mebibyte,
              static_cast<double>(ranks * geometry.pool_bytes()) / mebibyte);
  return used;
}

TEST(MemoryUse, IsWhatTheFormulaSays) {
  for (const int ranks : {2, 8, 64, 128})
    EXPECT_EQ(measured(ranks), Geometry::for_ranks(ranks).bytes_in_use(ranks)) << ranks;
}

TEST(MemoryUse, IsBoundedForManyRanks) {
  const auto bytes = [](int ranks) { return Geometry::for_ranks(ranks).bytes_in_use(ranks); };
  EXPECT_LE(bytes(8), 52 * mebibyte);
  EXPECT_LE(bytes(128), 512 * mebibyte);
  EXPECT_LE(bytes(256), 1536 * mebibyte);
  for (int ranks = 16; ranks <= 512; ++ranks) {
    const Geometry geometry = Geometry::for_ranks(ranks);
    EXPECT_LE(geometry.pool_bytes(), Geometry::for_ranks(12).pool_bytes()) << "of a rank, for " << ranks;
    EXPECT_LE(geometry.pair_bytes(), 64 * 1024) << "of a pair, for " << ranks;
  }
}

}  // namespace
}  // namespace tutti::shm
