// Collectives on several nodes and sockets, which TUTTI_NODES and TUTTI_SOCKETS pretend: against the MPI's results,
// over the transports that the nodes call for.
#include <algorithm>
#include <cstdlib>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/mpi/collective_cases.hpp"

namespace tutti::test {
namespace {

/// The algorithms of several levels that serve a collective, some with segments, and Tutti's own choice.
std::vector<std::string> leveled(Collective collective) {
  std::vector<std::string> names{""};
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == collective && algorithm->levels != Levels::ranks) {
      names.emplace_back(algorithm->name);
      names.push_back(std::string{algorithm->name} + "/24");
      if (algorithm->parameter.unit == Parameter::Unit::bytes) names.push_back(std::string{algorithm->name} + ":100");
    }
  return names;
}

std::vector<Count> uneven_counts(Collective collective) {
  const auto size = static_cast<std::size_t>(world_size());
  std::vector<Count> counts;
  for (std::size_t a = 0; a < (collective == Collective::alltoall ? size : 1); ++a)
    for (std::size_t b = 0; b < size; ++b)
      counts.emplace_back((a + b) % 4 == 1 ? 0 : (a + b) % 3 == 0 ? 90 : static_cast<int>(a + b));
  return counts;
}

class OnNodes : public testing::TestWithParam<Collective> {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
};

TEST_P(OnNodes, RightResults) {
  int turn = 0;
  for (const std::string& choice : leveled(GetParam()))
    for (const int root : {0, world_size() / 2, world_size() - 1})
      for (const std::int64_t count : {0, 1, world_size(), 37, 5000})
        for (int again = 0; again < ways; ++again, ++turn) {
          if (!has_root(GetParam()) && root != 0) continue;
          if (count == 5000 && choice.ends_with("/24")) continue;  // thousands of segments
          Trial trial{.collective = GetParam(), .algorithm = choice, .count = count, .root = root};
          trial.way = static_cast<Way>(turn % ways);
          trial.buffers = static_cast<BufferUse>(turn / ways % buffer_uses);
          expect_right<std::int32_t>(trial, Op::sum, comm_);
        }
}

TEST_P(OnNodes, RightResultsOfUnevenBlocks) {
  if (GetParam() < Collective::reduce_scatter || GetParam() > Collective::alltoall)
    GTEST_SKIP() << "has no such blocks";
  int turn = 0;
  for (const std::string& choice : leveled(GetParam()))
    for (const int root : {0, world_size() - 1})
      for (const int gap : {0, 2})
        for (int again = 0; again < ways * buffer_uses; ++again, ++turn) {
          Trial trial{.collective = GetParam(), .algorithm = choice, .root = has_root(GetParam()) ? root : 0};
          trial.counts = uneven_counts(GetParam());
          trial.gap = Count{gap};
          trial.way = static_cast<Way>(turn % ways);
          trial.buffers = static_cast<BufferUse>(turn / ways % buffer_uses);
          expect_right<std::int16_t>(trial, Op::sum, comm_);
        }
}

TEST_P(OnNodes, PartsOfTheWorldHaveNodesToo) {
  mpi::UniqueComm part;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 3 == 0 ? 1 : 0, -world_rank(), part.receive());
  const Communicator comm{part.get()};
  for (const std::string& choice : leveled(GetParam()))
    expect_right<float>({.collective = GetParam(), .algorithm = choice, .count = 7, .root = comm.size() - 1}, Op::sum,
                        comm, part.get());
}

INSTANTIATE_TEST_SUITE_P(All, OnNodes, testing::ValuesIn(all_collectives()),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

/// The effect of TUTTI_SOCKETS: parts of nodes, numbered in the order of their lowest ranks.
TEST(OnSockets, AreParts) {
  const char* given = std::getenv("TUTTI_SOCKETS");
  if (given == nullptr) GTEST_SKIP() << "TUTTI_SOCKETS pretends none";
  const Communicator world{MPI_COMM_WORLD};
  mpi::UniqueComm backwards;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), backwards.receive());
  const Communicator other{backwards.get()};
  for (const Communicator* comm : {&world, &other}) {
    const std::span<const int> nodes = comm->state().members().nodes(), sockets = comm->state().members().sockets();
    ASSERT_EQ(std::ssize(sockets), world_size()) << given;
    const auto node_of = [&](int rank) { return nodes.empty() ? 0 : nodes[static_cast<std::size_t>(rank)]; };
    const auto given_of = [&](int rank) { return given[2 * (comm == &world ? rank : world_size() - 1 - rank)]; };
    for (int next = 0, a = 0; a < world_size(); ++a) {
      const int socket = sockets[static_cast<std::size_t>(a)];
      EXPECT_LE(socket, next);
      if (socket == next) ++next;
      for (int b = 0; b < a; ++b)
        EXPECT_EQ(socket == sockets[static_cast<std::size_t>(b)],
                  node_of(a) == node_of(b) && given_of(a) == given_of(b))
            << a << " and " << b;
    }
  }
}

Plan plan_of(Collective collective, std::int64_t count, const Communicator& comm, std::vector<double>& memory) {
  const Trial trial{.collective = collective, .count = count};
  const checker::Problems problems = problems_of(trial, comm.size());
  const Problem& problem = problems.of(comm.rank());
  memory.assign(static_cast<std::size_t>(2 * count * comm.size()) + 1, 1);
  detail::Call call = call_of(trial, problem, Type::fp64, Op::sum);
  call.in = memory.data();
  call.out = memory.data() + count * comm.size();
  return detail::prepare(call, comm, {});
}

/// The algorithms that Tutti chooses on nodes of several ranks, and that they run: messages inside nodes go through
/// shared memory and those between nodes over MPI, as few as the schedule has.
TEST(OnSeveralNodes, TuttiChoosesLevels) {
  const Communicator comm{MPI_COMM_WORLD};
  const bool has_levels = comm.node_count() > 1 && comm.node_count() < comm.size();
  const bool in_rows = follow_each_other(comm.state().members().nodes());
  for (const Collective collective : all_collectives()) {
    std::vector<double> memory;
    Plan plan = plan_of(collective, collective == Collective::barrier ? 0 : 4, comm, memory);
    const bool is_scan = collective == Collective::scan || collective == Collective::exscan;
    const bool wanted = has_levels && (in_rows || !is_scan);
    EXPECT_EQ(plan.algorithm() == "two_level", wanted) << plan.explain();
    EXPECT_EQ(plan.explain().find(std::to_string(comm.node_count()) + " nodes") != std::string::npos,
              comm.node_count() > 1)
        << plan.explain();
    const MessageCounters before = comm.message_counters();
    plan.start();
    plan.wait();
    const MessageCounters after = comm.message_counters();
    const bool alone = comm.node().size() == 1;
    if (wanted && (alone || comm.leaders().me < 0)) {
      const bool by_leaders = collective != Collective::alltoall && !is_scan;
      if (alone) {
        EXPECT_EQ(after.shm.sent, before.shm.sent) << plan.explain();
      }
      if (!alone && by_leaders) {
        EXPECT_EQ(after.mpi.sent, before.mpi.sent) << plan.explain();
      }
    }
    if (!has_levels && comm.node_count() == 1) {
      EXPECT_EQ(after.mpi.sent, before.mpi.sent) << plan.explain();
    }
  }
}

/// Messages between nodes of an alltoall whose blocks of so many elements are listed, of all ranks.
std::int64_t crossing(std::int64_t elements, const Communicator& comm) {
  const std::vector<Count> counts(static_cast<std::size_t>(comm.size()), Count{elements});
  const std::vector<std::int16_t> in(static_cast<std::size_t>(elements * comm.size()), 1);
  std::vector<std::int16_t> out(in.size());
  const std::int64_t before = comm.message_counters().mpi.sent;
  alltoallv(in.data(), {counts, {}}, out.data(), {counts, {}}, Type::int16, comm, {.algorithm = "two_level:100"});
  std::int64_t sent = comm.message_counters().mpi.sent - before;
  MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(out, in);
  return sent;
}

TEST(OnSeveralNodes, WhatIsCarriedIsToldInBytes) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::span<const int> nodes = comm.state().members().nodes();
  if (comm.node_count() == 1) GTEST_SKIP() << "one node";
  std::int64_t apart = 0;
  for (const int here : nodes)
    apart += std::ranges::count_if(nodes, [here](int there) { return here != there; });
  EXPECT_EQ(crossing(50, comm), comm.node_count() * (comm.node_count() - 1)) << "100 bytes";
  EXPECT_EQ(crossing(51, comm), apart) << "102 bytes";
}

TEST(OnSeveralNodes, LargeDataGoOverAllRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  if (comm.node_count() == 1 || comm.node_count() == comm.size()) GTEST_SKIP() << "nodes of one rank, or one node";
  constexpr std::int64_t count = 1 << 16;
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter, Collective::allgather}) {
    std::vector<double> memory;
    Plan plan = plan_of(collective, count, comm, memory);
    EXPECT_EQ(plan.algorithm(), "lanes") << plan.explain();
    const MessageCounters before = comm.message_counters();
    plan.start();
    plan.wait();
    const MessageCounters after = comm.message_counters();
    EXPECT_GT(after.mpi.sent + after.mpi.received, before.mpi.sent + before.mpi.received)
        << "every rank leads a lane: " << plan.explain();
    EXPECT_EQ(after.shm.sent > before.shm.sent, comm.node().size() > 1) << plan.explain();
  }
}

/// x -> scale * x + shift, modulo 2^32. One after the other they make another map of this form; their order matters.
struct AffineMap {
  std::uint32_t scale = 1, shift = 0;
  friend AffineMap operator*(AffineMap a, AffineMap b) { return {a.scale * b.scale, a.scale * b.shift + a.shift}; }
  bool operator==(const AffineMap&) const = default;
};

void compose(const void* lhs, const void* rhs, void* into, Count count, void* /*context*/) {
  for (std::int64_t i = 0; i < count.value(); ++i)
    static_cast<AffineMap*>(into)[i] = static_cast<const AffineMap*>(lhs)[i] * static_cast<const AffineMap*>(rhs)[i];
}

void expect_composed(std::int64_t count, std::string_view algorithm, const Communicator& comm) {
  const auto map_of = [](int rank, std::int64_t i) {
    const auto mix = static_cast<std::uint32_t>(rank + 1), at = static_cast<std::uint32_t>(i);
    return AffineMap{2 * (mix * 7919 + at) + 1, mix * 104729 + 31 * at};
  };
  std::vector<AffineMap> data, expected;
  for (std::int64_t i = 0; i < count; ++i) {
    data.push_back(map_of(world_rank(), i));
    AffineMap all = map_of(0, i);
    for (int rank = 1; rank < world_size(); ++rank)
      all = all * map_of(rank, i);
    expected.push_back(all);
  }
  std::vector<AffineMap> out(data.size());
  const Op op = Op::user(compose, Commutative::no);
  allreduce(data.data(), out.data(), Count{count}, Type::uint64, op, comm, {.algorithm = algorithm});
  EXPECT_TRUE(out == expected) << "'" << algorithm << "', " << count << " elements";
}

/// Operations that are not commutative are combined in the order of ranks, or the algorithm is refused.
TEST(OnSeveralNodes, KeepTheOrderOfRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  const bool in_order = follow_each_other(comm.state().members().nodes());
  for (const std::int64_t count : {1, 37, 30000}) {
    expect_composed(count, "", comm);
    if (in_order) expect_composed(count, "two_level", comm);
    if (!in_order)
      expect_throw<ArgumentError>([&] { expect_composed(count, "two_level", comm); }, {"not commutative", "two_level"});
    expect_throw<ArgumentError>([&] { expect_composed(count, "lanes", comm); }, {"not commutative", "lanes"});
  }
}

}  // namespace
}  // namespace tutti::test
