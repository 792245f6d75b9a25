// Calls that recur allocate nothing.
#include <array>
#include <cstdio>
#include <new>

#include "tests/support/counted_allocations.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

constexpr int calls = 100'000;

/// Runs `call` 100,000 times after a warm-up, in which plans are compiled and cached, and prints its allocations.
template <class Call>
void expect_no_allocations(const char* what, Call call) {
  for (int i = 0; i < 100; ++i)
    call();
  const long count = allocations_of([&] {
    for (int i = 0; i < calls; ++i)
      call();
  });
  if (world_rank() == 0) std::printf("%d times %s: %ld allocations\n", calls, what, count);
  EXPECT_EQ(count, 0) << what;
}

TEST(Allocation, IsCounted) {
  struct alignas(64) Line {
    char bytes[64];
  };
  EXPECT_EQ(allocations_of([] {}), 0);
  EXPECT_EQ(allocations_of([] { ::operator delete(::operator new(8)); }), 1);
  EXPECT_EQ(allocations_of([] { ::operator delete[](::operator new[](8, std::nothrow)); }), 1);
  EXPECT_EQ(allocations_of([] { ::operator delete (::operator new (8, std::align_val_t{64}), std::align_val_t{64}); }),
            1);
  EXPECT_EQ(allocations_of([] { std::vector<Line> lines(2); }), 1);
  // The library's too: the first call with a count compiles a plan.
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<double> data(3);
  EXPECT_GT(allocations_of([&] { allreduce(std::span{data}, Op::max, comm); }), 0);
}

TEST(Allocation, NoneInBlockingCalls) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<double> in(1, 1.0), out(1);
  expect_no_allocations("blocking", [&] { allreduce(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm); });
  EXPECT_EQ(out[0], world_size());
}

TEST(Allocation, NoneInMessages) {
  const Communicator comm{MPI_COMM_WORLD};
  const Rank right{(world_rank() + 1) % world_size()}, left{(world_rank() + world_size() - 1) % world_size()};
  std::vector<double> in(1, world_rank()), out(1, -1);
  expect_no_allocations("sendrecv", [&] { sendrecv(std::span{std::as_const(in)}, right, std::span{out}, left, comm); });
  EXPECT_EQ(out[0], left.value());
}

TEST(Allocation, NoneInAsyncAndWait) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<double> in(1, 1.0), out(1);
  expect_no_allocations("async and wait", [&] {
    Request request = allreduce_async(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm);
    request.wait();
  });
  EXPECT_EQ(out[0], world_size());
}

TEST(Allocation, NoneInPlanStartAndWait) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<double> in(1, 1.0), out(1);
  Plan plan = plan_allreduce(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm);
  expect_no_allocations("plan start and wait", [&] {
    plan.start();
    plan.wait();
  });
  EXPECT_EQ(out[0], world_size());
}

/// Several counts and requests in turn, so that plans are found in the cache and not just used again.
TEST(Allocation, NoneInAMixtureOfCalls) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<double> data(6);
  std::array<Request, 2> requests;
  const auto mixture = [&] {
    for (std::size_t count = 1; count <= 3; ++count) {
      requests[0] = allreduce_async(std::span{data}.first(count), Op::max, comm);
      requests[1] = allreduce_async(std::span{data}.last(count), Op::min, comm, {.algorithm = "ring"});
      for (Request& request : requests)
        request.wait();
    }
  };
  for (int i = 0; i < 100; ++i)
    mixture();
  const long count = allocations_of([&] {
    for (int i = 0; i < 1000; ++i)
      mixture();
  });
  if (world_rank() == 0) std::printf("6000 async calls of 6 kinds: %ld allocations\n", count);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace tutti::test
