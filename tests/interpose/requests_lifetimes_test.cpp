// Many requests at once, freed communicators and types, threads, blocking calls between nonblocking ones.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "tests/interpose/works.hpp"

namespace tutti::test {
namespace {

constexpr int many = 500;

/// An order by the seed: the same on all ranks or another on each.
std::vector<std::size_t> shuffled(std::size_t size, unsigned seed) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), std::mt19937{seed});
  return order;
}

/// Sums of a value on each rank, started one after the other.
class Sums {
 public:
  explicit Sums(std::size_t count) : own_(count), sums_(count, -1), requests_(count, MPI_REQUEST_NULL) {
    for (std::size_t i = 0; i < count; ++i)
      own_[i] = static_cast<int>(i) + rank_in();
  }
  void start(std::size_t i, MPI_Comm comm) {
    MPI_Iallreduce(&own_[i], &sums_[i], 1, MPI_INT, MPI_SUM, comm, &requests_[i]);
  }
  [[nodiscard]] std::vector<MPI_Request>& requests() { return requests_; }
  [[nodiscard]] bool is_right(std::size_t i) const {
    return requests_[i] == MPI_REQUEST_NULL && sums_[i] == size_of() * static_cast<int>(i) + sum_of_ranks(size_of());
  }
  [[nodiscard]] bool are_right() const {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (!is_right(i)) return false;
    return true;
  }

 private:
  std::vector<int> own_, sums_;
  std::vector<MPI_Request> requests_;
};

TEST(Many, AreCompletedInAnotherOrderOnEachRank) {
  Sums sums{many};
  for (std::size_t i = 0; i < many; ++i)
    sums.start(i, MPI_COMM_WORLD);
  for (const std::size_t i : shuffled(many, static_cast<unsigned>(rank_in()))) {
    EXPECT_EQ(MPI_Wait(&sums.requests()[i], MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_TRUE(sums.is_right(i));
  }
}

TEST(Many, AreCompletedByWaitany) {
  Sums sums{many};
  for (std::size_t i = 0; i < many; ++i)
    sums.start(i, MPI_COMM_WORLD);
  for (int times = 0; times < many; ++times) {
    int index = -1;
    ASSERT_EQ(MPI_Waitany(many, sums.requests().data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_TRUE(sums.is_right(static_cast<std::size_t>(index)));
  }
}

TEST(Interleaved, BlockingCallsOvertakePendingOnes) {
  Sums sums{many};
  for (std::size_t i = 0; i < many; ++i) {
    sums.start(i, MPI_COMM_WORLD);
    EXPECT_TRUE(i % 5 != 0 || works(MPI_COMM_WORLD));
    if (i % 7 == 0) MPI_Wait(&sums.requests()[i / 2], MPI_STATUS_IGNORE);
  }
  MPI_Waitall(many, sums.requests().data(), MPI_STATUSES_IGNORE);
  EXPECT_TRUE(sums.are_right());
}

TEST(Communicators, MayBeFreedWhileCallsArePending) {
  for (int round = 0; round < 20; ++round) {
    Sums sums{8};
    for (std::size_t i = 0; i < 8; ++i) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
      MPI_Barrier(comm);
      sums.start(i, comm);
      MPI_Comm_free(&comm);
    }
    for (const std::size_t i : shuffled(8, static_cast<unsigned>(rank_in())))
      MPI_Wait(&sums.requests()[i], MPI_STATUS_IGNORE);
    ASSERT_TRUE(sums.are_right());
  }
}

TEST(Types, MayBeFreedWhileCallsArePending) {
  constexpr std::size_t calls = 50;
  const auto ranks = static_cast<std::size_t>(size_of());
  std::vector<std::vector<int>> in(calls, std::vector<int>(4, rank_in())), out(calls, std::vector<int>(4 * ranks, -1));
  std::vector<MPI_Request> requests(calls, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < calls; ++i) {
    MPI_Datatype apart = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
    MPI_Type_create_resized(apart, 0, 4 * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&apart);
    MPI_Iallgather(in[i].data(), 1, type, out[i].data(), 1, type, MPI_COMM_WORLD, &requests[i]);
    MPI_Type_free(&type);
  }
  MPI_Waitall(calls, requests.data(), MPI_STATUSES_IGNORE);
  for (const std::vector<int>& one : out)
    for (std::size_t i = 0; i < one.size(); ++i)
      ASSERT_EQ(one[i], i % 2 == 0 ? static_cast<int>(i / 4) : -1);
}

/// Each thread has requests on a communicator of its own; all begin at once.
TEST(Threads, HaveRequestsOfTheirOwn) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  constexpr std::size_t thread_count = 4;
  std::vector<MPI_Comm> comms(thread_count);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
  }
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < thread_count; ++k)
    threads.emplace_back([&, thread = (k + static_cast<std::size_t>(rank_in())) % thread_count] {
      bool is_right = true;
      for (int round = 0; round < 20; ++round) {
        Sums sums{10};
        for (std::size_t i = 0; i < 10; ++i)
          sums.start(i, comms[thread]);
        MPI_Waitall(10, sums.requests().data(), MPI_STATUSES_IGNORE);
        is_right &= sums.are_right();
      }
      right += is_right ? 1 : 0;
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(right, static_cast<int>(thread_count));
  for (MPI_Comm& comm : comms)
    MPI_Comm_free(&comm);
}

}  // namespace
}  // namespace tutti::test
