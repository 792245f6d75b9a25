#pragma once
// Common parts of the suites of shared memory.

#include <dirent.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/transport/mpi/mpi_bootstrap.hpp"
#include "lib/core/transport/shm/segment/segment.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::shm {

using test::expect_throw;
using test::world_rank;
using test::world_size;

inline constexpr std::int64_t page = Segment::first_free;  // at least a page
inline constexpr std::int64_t small = Segment::first_free + 16 * page;
inline constexpr std::int64_t terabyte = std::int64_t{1} << 40;

/// This process's open files: each descriptor and the file that it leads to.
inline std::vector<std::pair<int, std::string>> open_files() {
  std::vector<std::pair<int, std::string>> files;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(folder)) {
    std::array<char, 256> target{};
    const std::string path = std::string{"/proc/self/fd/"}.append(entry->d_name);
    if (::readlink(path.c_str(), target.data(), target.size() - 1) < 0) continue;
    const int descriptor = std::stoi(entry->d_name);
    if (descriptor != ::dirfd(folder)) files.emplace_back(descriptor, target.data());
  }
  ::closedir(folder);
  std::ranges::sort(files);
  return files;
}

/// The descriptors of segments in this process.
inline std::vector<int> segment_descriptors() {
  std::vector<int> found;
  for (const auto& [descriptor, target] : open_files())
    if (target.starts_with("/memfd:tutti")) found.push_back(descriptor);
  return found;
}

/// All ranks must agree which are attached, and why others are not; calls of one that is not must be refused.
inline void expect_consistent(const Segment& segment) {
  std::string said = segment.why_not();
  for (int rank = 0; rank < world_size(); ++rank)
    said += segment.reaches(rank) ? '+' : '-';
  said.resize(1000);
  test::expect_same_bytes(said.data(), said.size());
  if (!segment.reaches(world_rank())) {
    expect_throw<Error>([&] { auto map = segment.map(0, page); }, {"map", "not attached"});
    expect_throw<Error>([&] { segment.reserve(0, page); }, {"reserve", "not attached"});
  }
}

/// Bytes that an attached rank writes must be seen by all attached ranks.
inline void expect_shared(const Segment& segment) {
  const auto size = static_cast<std::size_t>(world_size());
  Mapping map;
  if (segment.reaches(world_rank())) {
    segment.reserve(Segment::first_free, page);
    map = segment.map(Segment::first_free, page);
    map.data()[world_rank()] = static_cast<std::byte>(world_rank() + 100);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (std::size_t rank = 0; rank < size && map.data() != nullptr; ++rank)
    EXPECT_EQ(std::to_integer<std::size_t>(map.data()[rank]), segment.reaches(static_cast<int>(rank)) ? rank + 100 : 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace tutti::shm
