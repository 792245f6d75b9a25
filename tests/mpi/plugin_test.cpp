// Algorithms of loaded libraries, and schedules that the program builds: proved, then run.
#include "tutti/plugin.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <optional>

#include "tests/mpi/collective_cases.hpp"
#include "tests/support/mpi_support.hpp"
#include "tutti/error.hpp"
#include "tutti/own_schedule.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Rank 0 alone names the library; the others load what it has loaded.
class Plugins : public testing::Test {
 protected:
  void SetUp() override {
    if (world_rank() == 0) setenv("TUTTI_ALGORITHMS", PLUGINS_OF_TESTS, 1);
    comm_.emplace(MPI_COMM_WORLD);
  }
  void TearDown() override {
    comm_.reset();
    unsetenv("TUTTI_ALGORITHMS");
  }
  std::optional<Communicator> comm_{};
};

TEST_F(Plugins, GiveTheResultsOfTheMpi) {
  Rotation rotation;
  const std::uint64_t before = comm_->counters().at("calls.proved");
  for (const char* const name : {"torus", "torus:1", "torus:4", "torus/64"})
    for (const std::int64_t count : {0, 1, 37, 1000})
      for (int again = 0; again < ways * buffer_uses; ++again)
        expect_right<std::int32_t>(
            rotation.next({.collective = Collective::allreduce, .algorithm = name, .count = count}), Op::sum, *comm_);
  EXPECT_GE(comm_->counters().at("calls.proved"), before + 16) << "plans of libraries are proved";
  EXPECT_EQ(comm_->counters().at("calls.unproved"), 0U);
}

TEST_F(Plugins, AreNamedByExplanations) {
  std::vector<float> data(8);
  const std::string why = plan_allreduce(data, Op::sum, *comm_, {.algorithm = "torus"}).explain();
  EXPECT_THAT(
      why, AllOf(HasSubstr("torus, as the call says"), HasSubstr(world_size() > 1 ? "rounds not stated" : "0 rounds")));
}

/// A schedule that is wrong never runs: the error is that of all ranks.
TEST_F(Plugins, ThatAreWrongAreNotRun) {
  float one = 1;
  const auto sum = [&] { allreduce(std::span{&one, 1}, Op::sum, *comm_, {.algorithm = "sumless"}); };
  if (world_size() == 1) return sum();
  EXPECT_THAT(error_of(sum), AllOf(HasSubstr("allreduce sumless, "),
                                   HasSubstr("elements, separate, fused: not proved: rank 0: output[0] is r0[0]")));
  one = 1;
  allreduce(std::span{&one, 1}, Op::sum, *comm_);
  EXPECT_EQ(one, static_cast<float>(world_size())) << "the communicator stays usable";
}

/// Right if all ranks place their buffers alike, and wrong otherwise, which no rank knows of the others.
TEST_F(Plugins, ThatAreWrongForSomePlacementsAreNotRun) {
  std::vector<float> in(8, 1), out(8);
  const Options options{.algorithm = "placed"};
  const std::string error = error_of([&] {
    if (world_rank() % 2 == 0)
      allreduce(out, Op::sum, *comm_, options);
    else
      allreduce(in, out, Op::sum, *comm_, options);
  });
  if (world_size() == 1) return;
  EXPECT_THAT(error, AllOf(HasSubstr("allreduce placed"), HasSubstr("in place on even ranks, fused: not proved")));
  MPI_Barrier(MPI_COMM_WORLD);
  allreduce(in, out, Op::sum, *comm_);
}

TEST_F(Plugins, ThatCannotBeLoadedAreRefusedOnAllRanks) {
  if (world_rank() == 0) setenv("TUTTI_ALGORITHMS", "/nowhere/libmine.so", 1);
  EXPECT_THAT(error_of([] { const Communicator comm{MPI_COMM_WORLD}; }), HasSubstr("/nowhere/libmine.so"));
}

/// Ranks in a circle: each adds up what all others have sent it, in the order of ranks.
Schedule all_to_all_sum(Rank rank, int size, bool is_wrong = false) {
  Problem problem{.rank = rank, .size = size, .count = Count{1}};
  ScheduleBuilder plan{problem};
  for (int peer = 0; peer < size; ++peer)
    if (Rank{peer} != rank) plan.send(plan.input(), Rank{peer});
  std::vector<Region> of(static_cast<std::size_t>(size), plan.input());
  for (int peer = 0; peer < size; ++peer)
    if (Rank{peer} != rank) {
      of[static_cast<std::size_t>(peer)] = plan.scratch(Count{1});
      plan.recv(of[static_cast<std::size_t>(peer)], Rank{peer});
    }
  if (size == 1 || is_wrong) plan.copy(plan.input(), plan.output());
  for (std::size_t peer = 1; peer < of.size() && !is_wrong; ++peer)
    plan.reduce(peer == 1 ? of[0] : plan.output(), of[peer], plan.output());
  return plan.build();
}

TEST(OwnSchedules, RunWhenTheyAreProved) {
  const Communicator comm{MPI_COMM_WORLD};
  const OwnSchedule own{.schedule = all_to_all_sum(comm.rank(), comm.size())};
  for (const std::size_t count : {0U, 1U, 5U, 4000U}) {
    std::vector<double> in(count, 1.5 * world_rank()), out(count, -1);
    run(own, in, out, Op::sum, comm);
    EXPECT_EQ(out, std::vector<double>(count, 0.75 * world_size() * (world_size() - 1)));
  }
  const std::string name = prove_schedule(own, comm);
  EXPECT_EQ(prove_schedule(own, comm), name);
  int one = 1;
  Request request = allreduce_async(std::span{&one, 1}, Op::sum, comm, {.algorithm = name});
  request.wait();
  EXPECT_EQ(one, world_size());
}

TEST(OwnSchedules, ThatAreWrongAreRefusedOnAllRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  const bool is_wrong = world_rank() == world_size() - 1;
  std::vector<int> in(3, 1), out(3);
  if (world_size() > 1) {
    const OwnSchedule own{.schedule = all_to_all_sum(comm.rank(), comm.size(), is_wrong)};
    EXPECT_THAT(error_of([&] { run(own, in, out, Op::sum, comm); }), HasSubstr("own schedule: not proved: rank"));
    const OwnSchedule torn{.schedule = all_to_all_sum(comm.rank(), comm.size()), .chunks = is_wrong ? 2 : 1};
    EXPECT_THAT(error_of([&] { run(torn, in, out, Op::sum, comm); }),
                HasSubstr("has another collective, number of chunks, root or requirement than rank 0"));
  }
  const OwnSchedule chunks{.schedule = all_to_all_sum(comm.rank(), comm.size()), .chunks = 0};
  EXPECT_THAT(error_of([&] { run(chunks, in, out, Op::sum, comm); }), HasSubstr("'chunks' is 0; allowed: 1 to"));
  const OwnSchedule rootless{.collective = Collective::broadcast, .root = Rank{-1}};
  EXPECT_THAT(error_of([&] { run(rootless, in, out, Op::sum, comm); }), HasSubstr("root"));
  const OwnSchedule good{.schedule = all_to_all_sum(comm.rank(), comm.size())};
  EXPECT_THAT(error_of([&] { run(good, in, std::span{out}.first(2), Op::sum, comm); }),
              HasSubstr("argument 'out' has 2 elements; allowed: 3"));
  const std::string name = prove_schedule(good, comm);
  const Communicator other{MPI_COMM_WORLD};
  EXPECT_THAT(error_of([&] { allreduce(in, out, Op::sum, other, {.algorithm = name}); }),
              HasSubstr("were proved for another communicator"));
  run(good, in, out, Op::sum, comm);
  EXPECT_EQ(out, std::vector<int>(3, world_size())) << "refusals leave it usable";
}

}  // namespace
}  // namespace tutti::test
