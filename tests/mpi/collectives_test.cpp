// Every collective with every algorithm, against the MPI's own results.
#include <chrono>

#include "lib/core/schedule/choice.hpp"
#include "lib/core/transport/mpi/handles.hpp"
#include "tests/mpi/collective_cases.hpp"

namespace tutti::test {
namespace {

class EveryCollective : public testing::TestWithParam<Collective> {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
};

std::vector<int> roots_of(Collective collective) {
  std::vector<int> roots{0};
  if (!has_root(collective)) return roots;
  for (const int root : {world_size() / 2, world_size() - 1})
    if (root != roots.back()) roots.push_back(root);
  return roots;
}

TEST_P(EveryCollective, EveryAlgorithmCountAndRoot) {
  Rotation rotation;
  for (const std::string& choice : choices_of(GetParam()))
    for (const int root : roots_of(GetParam()))
      for (const std::int64_t count : {0, 1, 3, world_size(), 37})
        for (int again = 0; again < ways; ++again) {
          const Trial trial =
              rotation.next({.collective = GetParam(), .algorithm = choice, .count = count, .root = root});
          expect_right<std::int32_t>(trial, Op::sum, comm_);
          if (again == 0) expect_right<std::complex<double>>(trial, Op::prod, comm_);
          if (again == 1) expect_right<std::int8_t>(trial, Op::max, comm_);
        }
}

/// Counts that differ: some are 0, one is large; with gaps where the call has offsets, and without.
class CollectiveOfBlocks : public EveryCollective {};
TEST_P(CollectiveOfBlocks, MayHaveUnevenOnes) {
  if (GetParam() < Collective::reduce_scatter || GetParam() > Collective::alltoall)
    GTEST_SKIP() << "has no such blocks";
  const auto size = static_cast<std::size_t>(world_size());
  const auto count_of = [&](std::size_t a, std::size_t b) -> std::int64_t {  // symmetric, as calls in place need it
    if ((a * b + a + b) % 3 == 0) return 0;
    return a == 1 && b == 1 ? 200 : static_cast<std::int64_t>(1 + (a + b) * 3 % 11);
  };
  std::vector<Count> counts;
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = 0; b < (GetParam() == Collective::alltoall ? size : 1); ++b)
      counts.emplace_back(GetParam() == Collective::alltoall ? count_of(a, b) : count_of(a, 1));
  Rotation rotation;
  for (const std::string& choice : choices_of(GetParam()))
    for (const int root : roots_of(GetParam()))
      for (const int gap : {0, 2})
        for (int again = 0; again < ways * buffer_uses; ++again) {
          Trial trial{.collective = GetParam(), .algorithm = choice, .root = root};
          trial.counts = counts;
          trial.gap = Count{gap};
          trial = rotation.next(trial);
          expect_right<std::int16_t>(trial, Op::sum, comm_);
          if (again == 0) expect_right<double>(trial, Op::min, comm_);
        }
}

TEST_P(EveryCollective, EveryTypeAndOperation) {
  const std::vector<Op> all{Op::sum, Op::prod, Op::min,  Op::max, Op::avg,  Op::land,
                            Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor, Op::scaled_sum(-0.375)};
  const bool is_prefix = GetParam() == Collective::scan || GetParam() == Collective::exscan;
  Rotation rotation;
  for (const std::string& choice : choices_of(GetParam()))
    for_each_type(AllTypes{}, [&]<class T>() {
      for (const Op& op : all) {
        if (!supports(op.kind(), type_of<T>) || (is_prefix && op == Op::avg)) continue;
        if (!reduces(GetParam()) && op != Op::sum) continue;
        const Trial trial{.collective = GetParam(), .algorithm = choice, .count = 5, .root = world_size() - 1};
        expect_right<T>(rotation.next(trial), op, comm_);
      }
    });
}

TEST_P(EveryCollective, OneMebibyte) {
  const bool has_blocks = GetParam() >= Collective::reduce_scatter && GetParam() <= Collective::alltoall;
  const std::int64_t count = (std::int64_t{1} << 20) / 8 / (has_blocks ? world_size() : 1) + 1;
  Rotation rotation;
  for (const std::string& choice : choices_of(GetParam())) {
    if (choice.ends_with("/16") || choice.ends_with("/24")) continue;  // a hundred thousand segments
    const Trial trial{.collective = GetParam(), .algorithm = choice, .count = count, .root = world_size() / 2};
    expect_right<double>(rotation.next(trial), Op::sum, comm_);
  }
}

TEST_P(EveryCollective, SplitsMessagesAtTheLimit) {
  const Setting limit{"TUTTI_MESSAGE_LIMIT", "100"};
  const Communicator comm{MPI_COMM_WORLD};
  Rotation rotation;
  for (const std::string& choice : choices_of(GetParam()))
    expect_right<std::int32_t>(rotation.next({.collective = GetParam(), .algorithm = choice, .count = 101}), Op::sum,
                               comm);
}

TEST_P(EveryCollective, OnPartsOfTheWorldAndAlone) {
  mpi::UniqueComm part, alone;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), part.receive());
  MPI_Comm_split(MPI_COMM_WORLD, world_rank(), 0, alone.receive());
  for (MPI_Comm each : {part.get(), alone.get(), MPI_COMM_SELF}) {
    const Communicator comm{each};
    Rotation rotation;
    for (const std::string& choice : choices_of(GetParam()))
      expect_right<float>(
          rotation.next({.collective = GetParam(), .algorithm = choice, .count = 7, .root = comm.size() - 1}), Op::sum,
          comm, each);
  }
}

/// Operations of two communicators, started in different orders on different ranks, and several of one.
TEST_P(EveryCollective, ManyInFlight) {
  const Communicator first{MPI_COMM_WORLD}, second{MPI_COMM_WORLD};
  for (const std::string& choice : choices_of(GetParam())) {
    constexpr int calls = 3;
    struct Flight {
      checker::Problems problems;
      CallMemory<std::int32_t> memory, expected;
      Request request{};
    };
    std::vector<Flight> flights;
    flights.reserve(2 * calls);
    const auto add = [&](int number) {
      const Trial trial{
          .collective = GetParam(), .algorithm = choice, .count = 20 + number, .root = number % world_size()};
      checker::Problems problems = problems_of(trial, world_size());
      const Problem& problem = problems.of(Rank{world_rank()});
      const auto input = inputs<std::int32_t>(Op::sum, world_rank(), shape_of(problem).input.value());
      CallMemory<std::int32_t> memory{problem, input, 85};
      CallMemory<std::int32_t> expected = memory;
      std::vector<std::int32_t> out = expected.output();
      if (reduces(GetParam()))
        reduce_by_mpi(problem, Op::sum, input, out, MPI_COMM_WORLD);
      else
        move_by_mpi(problem, input, out, MPI_COMM_WORLD);
      expected.set_output(out);
      flights.push_back({std::move(problems), memory, expected});
    };
    for (int number = 0; number < 2 * calls; ++number)
      add(number);
    const auto launch = [&](int number) {
      Flight& flight = flights[static_cast<std::size_t>(number)];
      const Trial trial{.collective = GetParam(), .algorithm = choice};
      detail::Call call = call_of(trial, flight.problems.of(Rank{world_rank()}), Type::int32, Op::sum);
      call.in = flight.memory.in();
      call.out = flight.memory.out();
      flight.request = detail::start(call, number < calls ? first : second, {.algorithm = choice});
    };
    for (int i = 0; i < calls; ++i) {
      // Even ranks start the first communicator's call first, odd ones the second's.
      const bool even = world_rank() % 2 == 0;
      launch(even ? i : calls + i);
      launch(even ? calls + i : i);
    }
    for (std::size_t i = flights.size(); i-- > 0;)
      flights[i].request.wait();
    for (const Flight& flight : flights)
      EXPECT_TRUE(flight.memory.same_as(flight.expected)) << to_string(GetParam()) << " '" << choice << "'";
  }
}

/// A path does as its name says: the plan runs the algorithm that was asked for, and names it.
TEST_P(EveryCollective, PlansSayWhatRuns) {
  for (const std::string& choice : choices_of(GetParam())) {
    const Trial trial{.collective = GetParam(), .algorithm = choice, .count = 4};
    const checker::Problems problems = problems_of(trial, world_size());
    const Problem& problem = problems.of(Rank{world_rank()});
    CallMemory<double> memory{problem, inputs<double>(Op::sum, world_rank(), shape_of(problem).input.value()), 85};
    detail::Call call = call_of(trial, problem, Type::fp64, Op::sum);
    call.in = memory.in();
    call.out = memory.out();
    const Plan plan = detail::prepare(call, comm_, {.algorithm = choice});
    const std::string text = plan.explain();
    const std::string size = GetParam() == Collective::barrier ? " on " : " of 4 elements of fp64";
    EXPECT_NE(text.find(std::string{to_string(GetParam())} + size), std::string::npos) << text;
    const std::string chosen =
        choice.empty() ? std::string{plan.algorithm()} : tutti::to_text(read_choice(GetParam(), choice));
    EXPECT_NE(text.find(": " + chosen), std::string::npos) << text;
    if (!choice.empty()) {
      EXPECT_EQ(plan.algorithm(), choice.substr(0, choice.find_first_of(":/")));
      EXPECT_NE(text.find("as the call says"), std::string::npos) << text;
    }
  }
}

const auto name_of = [](const auto& info) { return std::string{to_string(info.param)}; };
INSTANTIATE_TEST_SUITE_P(All, EveryCollective, testing::ValuesIn(all_collectives()), name_of);
INSTANTIATE_TEST_SUITE_P(All, CollectiveOfBlocks,
                         testing::Values(Collective::reduce_scatter, Collective::allgather, Collective::gather,
                                         Collective::scatter, Collective::alltoall),
                         name_of);

/// In seconds, by a clock that all processes of a machine share.
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// No rank may leave before the last has entered: each waits for its turn before it enters, and looks at a clock after.
TEST(Barrier, HoldsEveryRank) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::string& choice : choices_of(Collective::barrier))
    for (int late = 0; late < world_size(); ++late) {
      double entered = 0;
      if (world_rank() == late) {
        const double begin = now();
        while (now() - begin < 2e-3) {
        }
        entered = now();
      }
      barrier(comm, {.algorithm = choice});
      const double left = now();
      MPI_Bcast(&entered, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
      EXPECT_GE(left, entered) << "'" << choice << "', rank " << late << " is late";
    }
}

}  // namespace
}  // namespace tutti::test
