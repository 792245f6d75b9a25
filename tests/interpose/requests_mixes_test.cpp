// Every function that completes requests, with requests of every kind.
#include <numeric>

#include "tests/interpose/mix.hpp"

namespace tutti::test {
namespace {

/// Notes that a request of a mix was completed, which happens once to each that is active.
class Completed {
 public:
  explicit Completed(Mix& mix) : mix_(&mix), left_(mix.active()) {}
  void note(int index, const MPI_Status* status) {
    ASSERT_GE(index, 0);
    ASSERT_LT(index, Mix::count());
    const auto i = static_cast<std::size_t>(index);
    EXPECT_TRUE(left_[i]) << "request " << i << " was completed twice, or was not active";
    left_[i] = false;
    if (status != nullptr) mix_->expect_status(i, *status);
    if (++times_ == 4) mix_->complete_generalized();
  }
  [[nodiscard]] bool all() const { return std::ranges::find(left_, true) == left_.end(); }

 private:
  Mix* mix_;
  std::vector<bool> left_;
  int times_ = 0;
};

/// Functions say so where no request is active any more.
void expect_nothing_active(Mix& mix) {
  mix.expect_over();
  int index = 0, flag = 0, done = 0;
  std::array<int, Mix::kinds> indices{};
  EXPECT_EQ(MPI_Waitany(Mix::count(), mix.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(index, MPI_UNDEFINED);
  EXPECT_EQ(MPI_Testany(Mix::count(), mix.data(), &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(index, MPI_UNDEFINED);
  EXPECT_NE(flag, 0);
  EXPECT_EQ(MPI_Waitsome(Mix::count(), mix.data(), &done, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(done, MPI_UNDEFINED);
  done = 0;
  EXPECT_EQ(MPI_Testsome(Mix::count(), mix.data(), &done, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(done, MPI_UNDEFINED);
  flag = 0;
  EXPECT_EQ(MPI_Testall(Mix::count(), mix.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_NE(flag, 0);
  EXPECT_EQ(MPI_Waitall(Mix::count(), mix.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(works(MPI_COMM_WORLD));
}

TEST(Mixes, Wait) {
  for (const bool from_the_end : {false, true}) {
    Mix mix;
    mix.complete_generalized();
    for (std::size_t k = 0; k < Mix::kinds; ++k) {
      const std::size_t i = from_the_end ? Mix::kinds - 1 - k : k;
      MPI_Status status{};
      EXPECT_EQ(MPI_Wait(&mix[i], &status), MPI_SUCCESS);
      mix.expect_status(i, status);
    }
    expect_nothing_active(mix);
  }
}

TEST(Mixes, Waitall) {
  Mix mix;
  mix.complete_generalized();
  std::array<MPI_Status, Mix::kinds> statuses{};
  EXPECT_EQ(MPI_Waitall(Mix::count(), mix.data(), statuses.data()), MPI_SUCCESS);
  for (std::size_t i = 0; i < Mix::kinds; ++i)
    mix.expect_status(i, statuses[i]);
  expect_nothing_active(mix);
}

TEST(Mixes, WaitallWithoutStatuses) {
  Mix mix;
  mix.complete_generalized();
  EXPECT_EQ(MPI_Waitall(Mix::count(), mix.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  expect_nothing_active(mix);
}

TEST(Mixes, Waitany) {
  for (const bool tells : {true, false}) {
    Mix mix;
    for (Completed completed{mix}; !completed.all();) {
      int index = -1;
      MPI_Status status{};
      ASSERT_EQ(MPI_Waitany(Mix::count(), mix.data(), &index, tells ? &status : MPI_STATUS_IGNORE), MPI_SUCCESS);
      completed.note(index, tells ? &status : nullptr);
      ASSERT_FALSE(testing::Test::HasFailure());
    }
    expect_nothing_active(mix);
  }
}

TEST(Mixes, Testany) {
  Mix mix;
  for (Completed completed{mix}; !completed.all();) {
    int index = -1, flag = 0;
    MPI_Status status{};
    ASSERT_EQ(MPI_Testany(Mix::count(), mix.data(), &index, &flag, &status), MPI_SUCCESS);
    if (flag == 0) continue;
    completed.note(index, &status);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  expect_nothing_active(mix);
}

using Some = int(int, MPI_Request*, int*, int*, MPI_Status*);

void complete_by_some(Some* function, bool tells) {
  Mix mix;
  for (Completed completed{mix}; !completed.all();) {
    int done = -1;
    std::array<int, Mix::kinds> indices{};
    std::array<MPI_Status, Mix::kinds> statuses{};
    ASSERT_EQ(function(Mix::count(), mix.data(), &done, indices.data(), tells ? statuses.data() : MPI_STATUSES_IGNORE),
              MPI_SUCCESS);
    ASSERT_GE(done, function == &MPI_Waitsome ? 1 : 0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(done); ++i)
      completed.note(indices[i], tells ? &statuses[i] : nullptr);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  expect_nothing_active(mix);
}

TEST(Mixes, Waitsome) { complete_by_some(MPI_Waitsome, true); }
TEST(Mixes, WaitsomeWithoutStatuses) { complete_by_some(MPI_Waitsome, false); }
TEST(Mixes, Testsome) { complete_by_some(MPI_Testsome, true); }
TEST(Mixes, TestsomeWithoutStatuses) { complete_by_some(MPI_Testsome, false); }

TEST(Mixes, Testall) {
  Mix mix;
  std::array<MPI_Status, Mix::kinds> statuses{};
  int flag = 1;
  EXPECT_EQ(MPI_Testall(Mix::count(), mix.data(), &flag, statuses.data()), MPI_SUCCESS);
  EXPECT_EQ(flag, 0) << "though the generalized request is not complete";
  const std::vector<bool> active = mix.active();
  for (std::size_t i = 0; i < Mix::kinds; ++i)
    EXPECT_TRUE(mix[i] != MPI_REQUEST_NULL || !active[i]) << "request " << i << " is lost";
  mix.complete_generalized();
  while (flag == 0)
    ASSERT_EQ(MPI_Testall(Mix::count(), mix.data(), &flag, statuses.data()), MPI_SUCCESS);
  for (std::size_t i = 0; i < Mix::kinds; ++i)
    mix.expect_status(i, statuses[i]);
  expect_nothing_active(mix);
}

TEST(Mixes, TestAndGetStatus) {
  Mix mix;
  mix.complete_generalized();
  for (std::size_t i = 0; i < Mix::kinds; ++i) {
    MPI_Status status{};
    int flag = 0;
    while (flag == 0 && i % 2 == 0)
      ASSERT_EQ(MPI_Request_get_status(mix[i], &flag, &status), MPI_SUCCESS);
    if (flag != 0) mix.expect_status(i, status);
    EXPECT_TRUE(mix[i] != MPI_REQUEST_NULL || !mix.active()[i]) << "request " << i << " is lost";
    for (flag = 0; flag == 0;)
      ASSERT_EQ(MPI_Test(&mix[i], &flag, &status), MPI_SUCCESS);
    mix.expect_status(i, status);
  }
  expect_nothing_active(mix);
}

/// The first of two is of a collective that rank 1 keeps back, the second a message that is there.
class KeptBack : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
    if (rank_in() == 0) {
      MPI_Irecv(&received_, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests_[1]);
      MPI_Ibarrier(MPI_COMM_WORLD, requests_.data());
    } else {
      if (rank_in() == 1) MPI_Send(&one_, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
      if (rank_in() == 1) MPI_Recv(&received_, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ibarrier(MPI_COMM_WORLD, requests_.data());
    }
  }
  void TearDown() override {
    if (size_of() < 2) return;
    if (rank_in() == 0) MPI_Send(&one_, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    EXPECT_EQ(MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(requests_[0], MPI_REQUEST_NULL);
  }
  /// Rank 0 looks at requests of which the first cannot be over.
  template <class Look>
  void on_rank_0(const Look& look) {
    if (rank_in() == 0) look();
    EXPECT_NE(requests_[0], MPI_REQUEST_NULL);
  }
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int one_ = 1, received_ = 0;
};

TEST_F(KeptBack, WaitanyAndTestany) {
  on_rank_0([&] {
    int index = -1, flag = 1;
    MPI_Status status{};
    EXPECT_EQ(MPI_Waitany(2, requests_.data(), &index, &status), MPI_SUCCESS);
    EXPECT_EQ(index, 1);
    EXPECT_EQ(status.MPI_SOURCE, 1);
    EXPECT_EQ(requests_[1], MPI_REQUEST_NULL);
    EXPECT_EQ(MPI_Testany(2, requests_.data(), &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(flag, 0);
  });
}

TEST_F(KeptBack, WaitsomeAndTestsome) {
  on_rank_0([&] {
    int done = -1;
    std::array<int, 2> indices{-1, -1};
    EXPECT_EQ(MPI_Waitsome(2, requests_.data(), &done, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(indices[0], 1);
    EXPECT_EQ(MPI_Testsome(2, requests_.data(), &done, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(done, 0);
  });
}

TEST_F(KeptBack, TestTestallAndGetStatus) {
  on_rank_0([&] {
    for (int i = 0; i < 50; ++i) {
      int flag = 1;
      EXPECT_EQ(MPI_Testall(2, requests_.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(flag, 0);
      EXPECT_NE(requests_[1], MPI_REQUEST_NULL);
      EXPECT_EQ(MPI_Test(requests_.data(), &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(flag, 0);
      EXPECT_EQ(MPI_Request_get_status(requests_[0], &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(flag, 0);
    }
  });
}

}  // namespace
}  // namespace tutti::test
