// Threads under MPI_THREAD_MULTIPLE: each has communicators of its own, and they share datatypes.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

constexpr int thread_count = 4;

class Threads : public testing::Test {
 protected:
  void SetUp() override {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    for (MPI_Comm& comm : comms_)
      MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  void TearDown() override {
    for (MPI_Comm& comm : comms_)
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  /// `work(thread, communicator)` in threads, which start in another order on each rank. True: all did.
  template <class Work>
  bool in_all_threads(const Work& work) {
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i) {
      const int thread = (i + rank_in()) % thread_count;
      threads.emplace_back([&, thread] { right += work(thread, comms_[static_cast<std::size_t>(thread)]) ? 1 : 0; });
    }
    for (std::thread& thread : threads)
      thread.join();
    return right == thread_count;
  }

 private:
  std::array<MPI_Comm, thread_count> comms_{MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
};

bool sums_up(MPI_Comm comm, int value) {
  const int given = value + rank_in(comm);
  int sum = 0;
  MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum == size_of(comm) * value + size_of(comm) * (size_of(comm) - 1) / 2;
}

TEST_F(Threads, CallAtOnce) {
  EXPECT_TRUE(in_all_threads([](int thread, MPI_Comm comm) {
    bool is_right = true;
    for (int i = 0; i < 200; ++i)
      is_right &= sums_up(comm, thread * 1000 + i);
    return is_right;
  }));
}

TEST_F(Threads, MakeAndFreeCommunicators) {
  EXPECT_TRUE(in_all_threads([](int thread, MPI_Comm parent) {
    bool is_right = true;
    for (int i = 0; i < 20; ++i) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(parent, &comm);
      is_right &= sums_up(comm, thread * 1000 + i);
      MPI_Comm_free(&comm);
    }
    return is_right;
  }));
}

/// Each is first used by all threads at once.
TEST_F(Threads, ShareDatatypes) {
  std::vector<MPI_Datatype> types(200, MPI_DATATYPE_NULL);
  for (MPI_Datatype& type : types) {
    MPI_Type_vector(4, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
  }
  EXPECT_TRUE(in_all_threads([&](int thread, MPI_Comm comm) {
    bool is_right = true;
    for (MPI_Datatype type : types) {
      std::array<int, 8> data{};
      if (rank_in() == 0) data.fill(thread + 1);
      MPI_Bcast(data.data(), 1, type, 0, comm);
      is_right &= data[6] == thread + 1 && (rank_in() == 0 || data[5] == 0);
    }
    return is_right;
  }));
  for (MPI_Datatype& type : types)
    MPI_Type_free(&type);
}

}  // namespace
}  // namespace tutti::test
