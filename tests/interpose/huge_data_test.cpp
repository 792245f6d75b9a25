// More bytes in a block than an int counts: 2.8 GB, which one rank sends as integers and the others receive with gaps.
#include <gtest/gtest.h>

#include <vector>

#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

constexpr int integers = 700'000'000;

int value_at(int i) { return i ^ (i >> 9); }

/// Every value, or so many that none of a page goes unseen.
testing::AssertionResult has_arrived(const std::vector<int>& data, int places_for_two) {
  for (int i = 0; i < integers; i += 997) {
    const std::size_t at = static_cast<std::size_t>(i / 2) * static_cast<std::size_t>(places_for_two) +
                           (i % 2 == 0 ? 0U : static_cast<std::size_t>(places_for_two - 1));
    if (data[at] != value_at(i)) return testing::AssertionFailure() << "value " << i << " is " << data[at];
  }
  return testing::AssertionSuccess();
}

class HugeData : public testing::Test {
 protected:
  void SetUp() override {
    if (rank_in() > 0) return;
    data_.resize(integers);
    for (int i = 0; i < integers; ++i)
      data_[static_cast<std::size_t>(i)] = value_at(i);
  }
  std::vector<int> data_;
};

TEST_F(HugeData, IsPackedInPieces) {
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  const bool is_root = rank_in() == 0;
  if (!is_root) data_.assign(std::size_t{integers} / 2 * 3, -1);
  EXPECT_EQ(MPI_Bcast(data_.data(), is_root ? integers : integers / 2, is_root ? MPI_INT : apart, 0, MPI_COMM_WORLD),
            MPI_SUCCESS);
  EXPECT_TRUE(has_arrived(data_, is_root ? 2 : 3));
  EXPECT_EQ(data_[1], is_root ? value_at(1) : -1) << "a gap";
  MPI_Type_free(&apart);
}

TEST_F(HugeData, InOneElement) {
  MPI_Datatype all = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(integers, MPI_INT, &all);
  MPI_Type_commit(&all);
  if (rank_in() > 0) data_.assign(integers, -1);
  EXPECT_EQ(MPI_Bcast(data_.data(), 1, all, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_TRUE(has_arrived(data_, 2));
  MPI_Type_free(&all);
}

TEST_F(HugeData, InOneElementWithAGap) {
  MPI_Datatype halves = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, integers / 2, integers / 2 + 1, MPI_INT, &halves);
  MPI_Type_commit(&halves);
  const bool is_root = rank_in() == 0;
  if (!is_root) data_.assign(integers + 1, -1);
  EXPECT_EQ(MPI_Bcast(data_.data(), is_root ? integers : 1, is_root ? MPI_INT : halves, 0, MPI_COMM_WORLD),
            MPI_SUCCESS);
  if (is_root) data_.insert(data_.begin() + integers / 2, -1);
  for (int i = 0; i < integers; i += 997)
    ASSERT_EQ(data_[static_cast<std::size_t>(i < integers / 2 ? i : i + 1)], value_at(i)) << "value " << i;
  EXPECT_EQ(data_[integers / 2], -1) << "the gap";
  MPI_Type_free(&halves);
}

}  // namespace
}  // namespace tutti::test
