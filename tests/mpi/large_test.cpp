// One message of more than 2 GiB, above the largest count of an int in MPI.
#include <algorithm>
#include <fstream>
#include <memory>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

constexpr std::int64_t count = (std::int64_t{1} << 31) + 4099;

/// The least that any rank sees, in GiB; 0 where it cannot be found out.
std::int64_t available_memory() {
  std::ifstream file{"/proc/meminfo"};
  std::string name;
  std::int64_t kibibytes = 0;
  while (file >> name >> kibibytes && name != "MemAvailable:")
    file.ignore(100, '\n');
  std::int64_t least = (file ? kibibytes : 0) >> 20;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  return least;
}

/// The elements repeat in a period that divides neither a message nor a piece of one. A block is many periods.
constexpr std::int64_t period = 61, block = period * 4096;

std::int8_t addend_at(std::int64_t i) { return static_cast<std::int8_t>(i % period - 30); }

std::vector<std::int8_t> block_of(int rank) {
  std::vector<std::int8_t> elements;
  for (std::int64_t i = 0; i < block; ++i)
    elements.push_back(addend_at(i + rank));
  return elements;
}

std::vector<std::int8_t> block_of_sums() {
  std::vector<std::int8_t> sums;
  for (std::int64_t i = 0; i < block; ++i) {
    int sum = 0;
    for (int rank = 0; rank < world_size(); ++rank)
      sum += addend_at(i + rank);
    sums.push_back(static_cast<std::int8_t>(sum));
  }
  return sums;
}

/// Calls visit(first, bytes) for each block of the data.
template <class Visit>
void for_each_block(Visit visit) {
  for (std::int64_t first = 0; first < count; first += block)
    visit(first, static_cast<std::size_t>(std::min(block, count - first)));
}

TEST(Large, OneMessageOfMoreThanTwoGibibytes) {
  const std::int64_t needed = world_size() * 2 * (count >> 30) + 2;  // data and scratch, and some for the MPI
  if (const std::int64_t available = available_memory(); available < needed)
    GTEST_SKIP() << "needs " << needed << " GiB of memory; available: " << available << " GiB";
  const Communicator comm{MPI_COMM_WORLD};
  const std::unique_ptr<std::int8_t[]> data{new std::int8_t[static_cast<std::size_t>(count)]};
  const std::vector<std::int8_t> mine = block_of(world_rank()), sums = block_of_sums();
  for_each_block([&](std::int64_t first, std::size_t bytes) { std::memcpy(data.get() + first, mine.data(), bytes); });

  allreduce(MPI_IN_PLACE, data.get(), Count{count}, Type::int8, Op::sum, comm, {.algorithm = "recursive_doubling"});

  std::int64_t wrong = 0;
  for_each_block([&](std::int64_t first, std::size_t bytes) {
    wrong += std::memcmp(data.get() + first, sums.data(), bytes) == 0 ? 0 : 1;
  });
  EXPECT_EQ(wrong, 0) << "blocks of " << block << " elements";
}

}  // namespace
}  // namespace tutti::test
