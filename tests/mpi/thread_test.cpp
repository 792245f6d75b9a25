// Several threads per rank under MPI_THREAD_MULTIPLE, each with a communicator of its own.
#include <algorithm>
#include <array>
#include <thread>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

constexpr int threads = 3, rounds = 2000;

bool threads_are_allowed() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

/// The failures that a thread saw; gtest is told by the main thread.
struct Report {
  int wrong = 0;
  std::string error;
};

void run_blocking(const Communicator& comm, std::int64_t first, Report& report) {
  const int rank = comm.rank().value();
  std::vector<std::int64_t> data(10);
  for (int round = 0; round < rounds; ++round) {
    fill_addends(data, rank, first + round);
    allreduce(std::span{data}, Op::sum, comm);
    report.wrong += is_sum(data, comm.size(), first + round) ? 0 : 1;
  }
}

/// Two in flight at a time; waited for in turn by wait and by test.
void run_async(const Communicator& comm, std::int64_t first, Report& report) {
  const int rank = comm.rank().value();
  for (int round = 0; round < rounds / 2; ++round) {
    const std::int64_t number = first + 2 * round;
    std::vector<std::int64_t> a = addends(10, rank, number), b = addends(100, rank, number + 1);
    Request of_a = allreduce_async(std::span{a}, Op::sum, comm);
    Request of_b = allreduce_async(std::span{b}, Op::sum, comm);
    of_b.wait();
    while (!of_a.test())
      std::this_thread::yield();
    report.wrong += is_sum(a, comm.size(), number) && is_sum(b, comm.size(), number + 1) ? 0 : 1;
  }
}

/// So many of the threads make requests, the others blocking calls.
void run_on_communicators_of_their_own(std::size_t with_requests) {
  std::vector<Communicator> comms;
  for (int k = 0; k < threads; ++k)
    comms.emplace_back(MPI_COMM_WORLD);
  std::array<Report, threads> reports;
  std::vector<std::thread> running;
  for (std::size_t k = 0; k < threads; ++k)
    running.emplace_back([&comm = comms[k], &report = reports[k], k, with_requests] {
      try {
        const auto first = static_cast<std::int64_t>(k) * rounds;
        k < with_requests ? run_async(comm, first, report) : run_blocking(comm, first, report);
      } catch (const std::exception& error) {
        report.error = error.what();
      }
    });
  for (std::thread& thread : running)
    thread.join();
  for (const Report& report : reports) {
    EXPECT_EQ(report.wrong, 0);
    EXPECT_EQ(report.error, "");
  }
}

TEST(Threads, EachHasItsOwnCommunicator) {
  if (!threads_are_allowed()) GTEST_SKIP() << "this MPI provides less than MPI_THREAD_MULTIPLE";
  run_on_communicators_of_their_own(1);
}

/// Makes communicators from `comm` again and again, and uses each.
void make_many(MPI_Comm comm, Report& report) {
  constexpr int many = 50;
  for (int round = 0; round < many; ++round) {
    const Communicator made{comm};
    std::vector<std::int64_t> data = addends(10, made.rank().value(), round);
    allreduce(std::span{data}, Op::sum, made);
    report.wrong += is_sum(data, made.size(), round) ? 0 : 1;
  }
}

/// Ranks start their threads in different orders.
TEST(Threads, MakeCommunicatorsAtTheSameTime) {
  if (!threads_are_allowed()) GTEST_SKIP() << "this MPI provides less than MPI_THREAD_MULTIPLE";
  std::array<MPI_Comm, threads> comms{};
  for (MPI_Comm& comm : comms)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::array<Report, threads> reports;
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i) {
    const std::size_t k = (i + static_cast<std::size_t>(world_rank())) % threads;
    running.emplace_back([comm = comms[k], &report = reports[k]] {
      try {
        make_many(comm, report);
      } catch (const std::exception& error) {
        report.error = error.what();
      }
    });
  }
  for (std::thread& thread : running)
    thread.join();
  for (const Report& report : reports) {
    EXPECT_EQ(report.wrong, 0);
    EXPECT_EQ(report.error, "");
  }
  for (MPI_Comm& comm : comms)
    MPI_Comm_free(&comm);
}

/// With nothing else under way, blocking calls wait with the lock in their hands, but not while another thread wants
/// it.
TEST(Threads, AllMakeBlockingCalls) {
  if (!threads_are_allowed()) GTEST_SKIP() << "this MPI provides less than MPI_THREAD_MULTIPLE";
  run_on_communicators_of_their_own(0);
}

/// Asking Open MPI for a setting once lowered the level of the whole library.
TEST(Threads, LevelStaysWhatItWas) {
  int before = MPI_THREAD_SINGLE, after = MPI_THREAD_SINGLE;
  MPI_Query_thread(&before);
  const Communicator comm{MPI_COMM_WORLD};
  MPI_Query_thread(&after);
  EXPECT_EQ(after, before);
}

/// A communicator is not bound to the thread that made it, nor a request to the one that started it.
TEST(Threads, TakeOverFromEachOther) {
  if (!threads_are_allowed()) GTEST_SKIP() << "this MPI provides less than MPI_THREAD_MULTIPLE";
  Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> data = addends(1000, world_rank(), 1);
  Request request = allreduce_async(std::span{data}, Op::sum, comm);
  std::thread{[&] { request.wait(); }}.join();
  EXPECT_TRUE(is_sum(data, world_size(), 1));
  std::thread{[&] { comm.close(); }}.join();
  EXPECT_FALSE(comm.is_open());
}

}  // namespace
}  // namespace tutti::test
