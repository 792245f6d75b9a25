// Many operations in flight: any order of waiting, progress of all by any wait, requests and plans at the end of their
// life.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

/// An allreduce under way: sum number `number`.
struct Flight {
  Flight(const Communicator& comm, std::int64_t number_, std::size_t count)
      : number(number_), in(addends(count, comm.rank().value(), number)), out(count) {
    request = allreduce_async(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm);
  }
  void expect_right() const { EXPECT_TRUE(is_sum(out, world_size(), number)) << "operation " << number; }

  std::int64_t number;
  std::vector<std::int64_t> in, out;
  Request request;
};
using Flights = std::vector<std::unique_ptr<Flight>>;

/// A random generator that differs between ranks.
std::mt19937 dice(unsigned seed) { return std::mt19937{seed * 1000 + static_cast<unsigned>(world_rank())}; }

Flights start_many(const Communicator& comm, int many) {
  Flights flights;
  for (int k = 0; k < many; ++k)
    flights.push_back(std::make_unique<Flight>(comm, k, static_cast<std::size_t>(k * 37 % 101)));
  return flights;
}

void wait_in_order(Flights& flights) {
  for (auto& flight : flights) {
    flight->request.wait();
    flight->expect_right();
  }
}

enum class Order : std::uint8_t { forward, reverse, random };

void arrange(Flights& flights, Order order) {
  if (order == Order::reverse) std::ranges::reverse(flights);
  auto generator = dice(1);
  if (order == Order::random) std::ranges::shuffle(flights, generator);
}

constexpr int many = 100;

TEST(Requests, ManyAreWaitedForInAnyOrder) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const Order order : {Order::forward, Order::reverse, Order::random}) {
    Flights flights = start_many(comm, many);
    arrange(flights, order);
    wait_in_order(flights);
  }
}

TEST(Requests, RanksMayWaitInDifferentOrders) {
  const Communicator comm{MPI_COMM_WORLD};
  for (int round = 0; round < 3; ++round) {
    Flights flights = start_many(comm, many);
    arrange(flights, static_cast<Order>((world_rank() + round) % 3));
    wait_in_order(flights);
  }
}

/// Tests until it is complete. Every test must make progress, so a bound on their number only turns a hang into a
/// failure.
[[nodiscard]] bool completes_by_testing(Request& request) {
  for (int attempt = 0; attempt < 10'000'000; ++attempt) {
    if (request.test()) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST(Requests, TestingCompletesThem) {
  const Communicator comm{MPI_COMM_WORLD};
  Flights flights = start_many(comm, many);
  arrange(flights, Order::random);
  for (auto& flight : flights) {
    EXPECT_TRUE(completes_by_testing(flight->request));
    EXPECT_TRUE(flight->request.test()) << "a completed request stays complete";
    flight->request.wait();
    flight->expect_right();
  }
}

TEST(Requests, ManyCommunicatorsStartInAnyInterleaving) {
  constexpr int per_communicator = 6;
  std::vector<Communicator> comms;
  for (int k = 0; k < 16; ++k)
    comms.emplace_back(MPI_COMM_WORLD);
  std::vector<std::size_t> starts;  // which communicator starts its next operation
  for (std::size_t k = 0; k < comms.size(); ++k)
    starts.insert(starts.end(), per_communicator, k);
  auto generator = dice(2);
  std::ranges::shuffle(starts, generator);
  std::vector<int> started(comms.size());
  Flights flights;
  for (const std::size_t k : starts) {
    const int number = static_cast<int>(k) * 100 + started[k]++;
    flights.push_back(std::make_unique<Flight>(comms[k], number, k * 97 + static_cast<std::size_t>(number % 7)));
  }
  arrange(flights, Order::random);
  wait_in_order(flights);
}

/// Rank 0 waits for A before it starts B; the others wait for B only, while rank 0 needs their part of A.
TEST(Requests, WaitingForOneMovesTheOthers) {
  const Communicator first{MPI_COMM_WORLD}, second{MPI_COMM_WORLD};
  for (const std::string_view algorithm : algorithm_choices()) {
    std::vector<std::int64_t> a = addends(1000, world_rank(), 1), b = addends(3, world_rank(), 2);
    Request of_a = allreduce_async(std::span{a}, Op::sum, first, {.algorithm = algorithm});
    if (world_rank() == 0) of_a.wait();
    Request of_b = allreduce_async(std::span{b}, Op::sum, second, {.algorithm = algorithm});
    of_b.wait();
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(completes_by_testing(of_a));
    EXPECT_TRUE(is_sum(a, world_size(), 1) && is_sum(b, world_size(), 2));
  }
}

TEST(Requests, WaitingMovesTheProgramsOwnMessages) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<char> large(4 << 20, static_cast<char>(world_rank()));
  std::vector<std::int64_t> data = addends(10, world_rank(), 3);
  MPI_Request receive = MPI_REQUEST_NULL;
  if (world_size() > 1 && world_rank() == 0)
    MPI_Irecv(large.data(), static_cast<int>(large.size()), MPI_CHAR, 1, 0, MPI_COMM_WORLD, &receive);
  // Too large to leave before rank 0, which is in the allreduce by then, has answered.
  if (world_rank() == 1) MPI_Send(large.data(), static_cast<int>(large.size()), MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  allreduce(std::span{data}, Op::sum, comm);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  EXPECT_TRUE(is_sum(data, world_size(), 3));
  const bool has_ones = world_size() > 1 && world_rank() <= 1;
  EXPECT_EQ(large.back(), has_ones ? 1 : world_rank());
}

TEST(Requests, DestroyingOneCompletesIt) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> data = addends(1000, world_rank(), 4);
  Request kept;
  {
    Request request = allreduce_async(std::span{data}, Op::sum, comm);
    if (world_rank() % 2 == 0) kept = std::move(request);  // the others destroy theirs at once
  }
  kept.wait();
  EXPECT_TRUE(is_sum(data, world_size(), 4));
}

TEST(Requests, AssigningOverOneCompletesIt) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> a = addends(1000, world_rank(), 5), b = addends(10, world_rank(), 6);
  Request request = allreduce_async(std::span{a}, Op::sum, comm);
  request = allreduce_async(std::span{b}, Op::sum, comm);
  EXPECT_TRUE(is_sum(a, world_size(), 5));
  request = Request{};
  EXPECT_TRUE(is_sum(b, world_size(), 6));
}

TEST(Requests, NothingToWaitFor) {
  Request request;
  EXPECT_TRUE(request.test());
  request.wait();
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> data = addends(10, world_rank(), 7);
  request = allreduce_async(std::span{data}, Op::sum, comm);
  Request other = std::move(request);
  request.wait();  // NOLINT(bugprone-use-after-move): a moved-from request has nothing to wait for
  EXPECT_TRUE(request.test());
  other.wait();
  EXPECT_TRUE(is_sum(data, world_size(), 7));
}

TEST(Requests, ClosingTheCommunicatorCompletesThem) {
  std::optional<Communicator> comm{std::in_place, MPI_COMM_WORLD};
  std::vector<std::int64_t> a = addends(1000, world_rank(), 8), b = addends(10, world_rank(), 9);
  Request of_a = allreduce_async(std::span{a}, Op::sum, *comm);
  Request of_b = allreduce_async(std::span{b}, Op::sum, *comm);
  comm.reset();
  EXPECT_TRUE(is_sum(a, world_size(), 8) && is_sum(b, world_size(), 9));
  EXPECT_TRUE(of_a.test());
  of_b.wait();
}

TEST(Plans, RunAgainAndAgain) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> in(20), out(20), in_place(20);
  Plan separate = plan_allreduce(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm);
  Plan own = plan_allreduce(std::span{in_place}, Op::sum, comm);
  for (int round = 0; round < 1000; ++round) {
    fill_addends(in, world_rank(), round);
    fill_addends(in_place, world_rank(), round + 1);
    separate.start();
    own.start();
    if (round % 3 == 0)
      while (!own.test())
        std::this_thread::yield();
    separate.wait();
    own.wait();
    EXPECT_TRUE(is_sum(out, world_size(), round) && is_sum(in_place, world_size(), round + 1)) << "round " << round;
  }
}

TEST(Plans, HaveNothingToWaitForBeforeTheyStart) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> data = addends(20, world_rank(), 1);
  Plan plan = plan_allreduce(std::span{data}, Op::sum, comm);
  plan.wait();
  EXPECT_TRUE(plan.test());
  EXPECT_TRUE(data == addends(20, world_rank(), 1));
  Plan other = std::move(plan);
  expect_throw<StateError>([&] { plan.start(); }, {"moved from"});  // NOLINT(bugprone-use-after-move)
  expect_throw<StateError>([&] { plan.wait(); }, {"moved from"});
  other.start();
  other.wait();
  EXPECT_TRUE(is_sum(data, world_size(), 1));
}

TEST(Plans, DoNotStartTwice) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> data = addends(20, world_rank(), 1);
  Plan plan = plan_allreduce(std::span{data}, Op::sum, comm);
  // Rank 0 starts only after the others' second start, which therefore meets a plan that is still running.
  if (world_rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
  plan.start();
  if (world_rank() != 0) {
    expect_throw<StateError>([&] { plan.start(); }, {"Plan::start", "running"});
    MPI_Barrier(MPI_COMM_WORLD);
  }
  plan.wait();
  EXPECT_TRUE(is_sum(data, world_size(), 1));
}

TEST(Plans, DestroyingARunningOneCompletesIt) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> data = addends(1000, world_rank(), 1);
  {
    Plan plan = plan_allreduce(std::span{data}, Op::sum, comm);
    plan.start();
  }
  EXPECT_TRUE(is_sum(data, world_size(), 1));
}

TEST(Plans, OutliveTheirCommunicatorButDoNotStart) {
  std::optional<Communicator> comm{std::in_place, MPI_COMM_WORLD};
  std::vector<std::int64_t> data = addends(20, world_rank(), 1);
  Plan plan = plan_allreduce(std::span{data}, Op::sum, *comm);
  plan.start();
  comm.reset();
  plan.wait();
  EXPECT_TRUE(is_sum(data, world_size(), 1));
  expect_throw<StateError>([&] { plan.start(); }, {"rank " + std::to_string(world_rank()), "closed"});
  plan.wait();
}

/// It must not throw; if it does, the call fails for any type that is thrown, and nothing is left under way.
TEST(UserOperation, ThatThrowsFailsTheCall) {
  if (world_size() != 2) GTEST_SKIP() << "needs two ranks, which both reduce";
  const Op throwing = Op::user([](const void*, const void*, void*, Count, void*) { throw 7; }, Commutative::yes);
  {
    const Communicator comm{MPI_COMM_WORLD};
    std::vector<double> data(3);
    expect_throw<Error>([&] { allreduce(std::span{data}, throwing, comm); }, {"a user's operation threw"});
    expect_throw<Error>([&] { allreduce(std::span{data}, Op::sum, comm); }, {"unusable"});
  }
  expect_works(Communicator{MPI_COMM_WORLD});
}

TEST(PlanCache, ForgetsOnlyPlansThatAreNotInUse) {
  const Setting two{"TUTTI_PLAN_CACHE", "2"};
  const Communicator comm{MPI_COMM_WORLD};
  for (int round = 0; round < 20; ++round) {
    Flights flights;  // more at a time than the cache keeps; of the same and of different counts
    for (int k = 0; k < 5; ++k)
      flights.push_back(std::make_unique<Flight>(comm, round * 5 + k, static_cast<std::size_t>((round + k * k) % 10)));
    arrange(flights, Order::random);
    wait_in_order(flights);
    std::vector<std::int64_t> data = addends(11, world_rank(), round);
    allreduce(std::span{data}, Op::sum, comm);
    EXPECT_TRUE(is_sum(data, world_size(), round));
  }
  std::vector<std::int64_t> data(12);
  allreduce(std::span{data}, Op::sum, comm);
  EXPECT_LE(comm.state().plans().size(), 2U);
}

}  // namespace
}  // namespace tutti::test
