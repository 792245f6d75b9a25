// Collective input and output, for which MPI calls collectives of its own.
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

TEST(Files, AreWrittenAndReadByAllRanks) {
  std::array<char, 256> name{};
  if (rank_in() == 0) {
    const auto path = std::filesystem::temp_directory_path() / ("tutti_files_test_" + std::to_string(::getpid()));
    path.string().copy(name.data(), name.size() - 1);
  }
  MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  constexpr int count = 1000;
  std::vector<int> written(count), read(count, -1);
  std::iota(written.begin(), written.end(), rank_in() * count);
  MPI_File file = MPI_FILE_NULL;
  ASSERT_EQ(MPI_File_open(MPI_COMM_WORLD, name.data(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                          MPI_INFO_NULL, &file),
            MPI_SUCCESS);
  const MPI_Offset bytes = count * MPI_Offset{sizeof(int)};
  MPI_File_write_at_all(file, rank_in() * bytes, written.data(), count, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  const int other = (rank_in() + 1) % size_of();
  MPI_File_read_at_all(file, other * bytes, read.data(), count, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  std::iota(written.begin(), written.end(), other * count);
  EXPECT_EQ(read, written);
}

}  // namespace
}  // namespace tutti::test
