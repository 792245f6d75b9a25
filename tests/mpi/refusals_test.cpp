// Refusals of every collective, before any message is posted: the argument, its value, what is allowed, the rank.
#include "lib/core/transport/mpi/handles.hpp"
#include "tests/mpi/collective_cases.hpp"

namespace tutti::test {
namespace {

class Refusals : public testing::Test {
 protected:
  /// Refused on every rank with all of `parts`, and nothing happened.
  template <class Call>
  void expect_refused(const char* function, Call call, std::initializer_list<std::string> parts) {
    expect_throw<ArgumentError>(call, {std::string{"tutti::"} + function + " on rank " + std::to_string(world_rank())});
    expect_throw<ArgumentError>(call, parts);
    expect_works(comm_);
  }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(world_size()); }
  Communicator comm_{MPI_COMM_WORLD};
  std::vector<double> in_ = std::vector<double>(100 * static_cast<std::size_t>(world_size())), out_ = in_;
};

TEST_F(Refusals, RootsThatAreNoRanks) {
  const std::string ranks = "0 to " + std::to_string(world_size() - 1);
  for (const int root : {-1, world_size(), 1 << 30}) {
    const std::initializer_list<std::string> parts{"'root'", std::to_string(root), ranks};
    const Rank bad{root};
    expect_refused(
        "broadcast", [&] { broadcast(std::span{out_}, bad, comm_); }, parts);
    expect_refused(
        "reduce", [&] { reduce(std::span{out_}, Op::sum, bad, comm_); }, parts);
    expect_refused(
        "gather", [&] { gather(in_.data(), out_.data(), Count{1}, Type::fp64, bad, comm_); }, parts);
    expect_refused(
        "scatterv", [&] { scatterv(in_.data(), {}, out_.data(), Count{1}, Type::fp64, bad, comm_); }, parts);
  }
}

TEST_F(Refusals, CountsOutOfRange) {
  constexpr std::int64_t huge = std::int64_t{1} << 60;
  for (const std::int64_t count : {std::int64_t{-1}, huge}) {
    const std::initializer_list<std::string> parts{"'count'", std::to_string(count), "0 to"};
    const Count bad{count};
    void *in = in_.data(), *out = out_.data();
    expect_refused(
        "broadcast", [&] { broadcast(out, bad, Type::fp64, Rank{0}, comm_); }, parts);
    expect_refused(
        "reduce", [&] { reduce(in, out, bad, Type::fp64, Op::sum, Rank{0}, comm_); }, parts);
    expect_refused(
        "scan", [&] { scan(in, out, bad, Type::fp64, Op::sum, comm_); }, parts);
    expect_refused(
        "exscan", [&] { exscan(in, out, bad, Type::fp64, Op::sum, comm_); }, parts);
    expect_refused(
        "allgather", [&] { allgather(in, out, bad, Type::fp64, comm_); }, parts);
    expect_refused(
        "alltoall", [&] { alltoall(in, out, bad, Type::fp64, comm_); }, parts);
    expect_refused(
        "gatherv", [&] { gatherv(in, bad, out, {}, Type::fp64, Rank{0}, comm_); }, parts);
  }
  // One block may be addressed, one of each rank may not.
  if (world_size() == 1) return;
  const Count large{std::numeric_limits<std::int64_t>::max() / 8};
  expect_refused("reduce_scatter", [&] { reduce_scatter(in_.data(), out_.data(), large, Type::fp64, Op::sum, comm_); },
                 {"'count'", std::to_string(large.value()), "0 to " + std::to_string(large.value() / world_size())});
}

TEST_F(Refusals, ListsThatDoNotFit) {
  std::vector<Count> counts(size(), Count{2}), one_more(size() + 1, Count{2}), offsets(size(), Count{0});
  void *in = in_.data(), *out = out_.data();
  const std::string ranks = std::to_string(world_size()) + " ranks";
  expect_refused("allgatherv",
                 [&] {
                   allgatherv(in, out, {one_more, {}}, Type::fp64, comm_);
                 },
                 {"'blocks'", "a list of " + std::to_string(world_size() + 1) + " counts", ranks});
  expect_refused("alltoallv",
                 [&] {
                   alltoallv(in, {counts, one_more}, out, {counts, {}}, Type::fp64, comm_);
                 },
                 {"'in_blocks'", "offsets", ranks});
  expect_refused("reduce_scatter", [&] { reduce_scatter(in, out, one_more, Type::fp64, Op::sum, comm_); },
                 {"'counts'", ranks});
  std::vector<Count> negative = counts;
  negative.back() = Count{-5};
  expect_refused("allgatherv",
                 [&] {
                   allgatherv(in, out, {negative, {}}, Type::fp64, comm_);
                 },
                 {"'blocks'", "-5 elements for rank " + std::to_string(world_size() - 1)});
  expect_refused("alltoallv",
                 [&] {
                   alltoallv(in, {counts, {}}, out, {counts, negative}, Type::fp64, comm_);
                 },
                 {"'out_blocks'", "2 elements at offset -5"});
  if (world_size() > 1)
    expect_refused("allgatherv",
                   [&] {
                     allgatherv(in, out, {counts, offsets}, Type::fp64, comm_);
                   },
                   {"'blocks'", "blocks of ranks", "overlap at offset 0"});
}

TEST_F(Refusals, BuffersThatOverlapPartly) {
  if (world_size() == 1) GTEST_SKIP() << "one rank's block is all there is";
  double* const data = in_.data();
  const Count count{10};
  expect_refused("allgather", [&] { allgather(data + 1, data, count, Type::fp64, comm_); },
                 {"'out'", "overlapping it partly"});
  expect_refused("alltoall", [&] { alltoall(data, data + 3, count, Type::fp64, comm_); },
                 {"'out'", "24 bytes from 'in'"});
  expect_refused("scan", [&] { scan(data, data + 9, count, Type::fp64, Op::sum, comm_); },
                 {"'out'", "the same as 'in'"});
  expect_refused("reduce_scatter", [&] { reduce_scatter(data, data + 1, count, Type::fp64, Op::sum, comm_); },
                 {"'out'"});
  expect_refused("allreduce",
                 [&] { allreduce(data, reinterpret_cast<char*>(data) + 4, count, Type::fp64, Op::sum, comm_); },
                 {"'out'", "4 bytes from 'in'"});
}

/// Blocks of one buffer, some sent and some received into: right if they are apart, however they are interleaved.
TEST_F(Refusals, ListsThatShareMemory) {
  std::vector<Count> counts(size(), Count{2}), even, odd, shifted;
  for (std::size_t r = 0; r < size(); ++r) {
    even.emplace_back(4 * r);
    odd.emplace_back(4 * r + 2);
    shifted.emplace_back(2 * ((r + 1) % size()));
  }
  std::vector<double> data(4 * size());
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = 1000 * world_rank() + static_cast<double>(i);
  for (const char* algorithm : {"linear", "pairwise", "bruck", "tuna"}) {
    const Options options{.algorithm = algorithm};
    alltoallv(data.data(), {counts, even}, data.data(), {counts, odd}, Type::fp64, comm_, options);
    alltoallv(data.data(), {counts, even}, data.data() + 2, {counts, even}, Type::fp64, comm_, options);
    for (std::size_t r = 0; r < size(); ++r)
      EXPECT_EQ(data[4 * r + 3], 1000.0 * static_cast<double>(r) + 4 * world_rank() + 1) << algorithm;
  }
  allgatherv(data.data(), data.data(), {counts, odd}, Type::fp64, comm_);  // from the gap before the first block
  EXPECT_EQ(data[3], 1);
  if (size() > 1)
    expect_refused("alltoallv",
                   [&] {
                     alltoallv(in_.data(), {counts, {}}, in_.data(), {counts, shifted}, Type::fp64, comm_);
                   },
                   {"'out_blocks'", "another list than 'in_blocks'", "apart"});
  std::vector<Count> other = counts;
  other[static_cast<std::size_t>(world_rank())] = Count{3};
  expect_refused("alltoallv",
                 [&] {
                   alltoallv(in_.data(), {counts, {}}, out_.data(), {other, {}}, Type::fp64, comm_);
                 },
                 {"'out_blocks'", "3 elements from this rank itself", "lists for it, 2"});
}

TEST_F(Refusals, NullBuffers) {
  double* const data = in_.data();
  const Count one{1};
  expect_refused("broadcast", [&] { broadcast(nullptr, one, Type::fp64, Rank{0}, comm_); }, {"null with count 1"});
  expect_refused("allgather", [&] { allgather(nullptr, data, one, Type::fp64, comm_); }, {"'in'", "null"});
  expect_refused("allgather", [&] { allgather(data, nullptr, one, Type::fp64, comm_); }, {"'out'", "null"});
  // Where a rank has nothing to read or write, null is right.
  gather(data, world_rank() == 0 ? out_.data() : nullptr, one, Type::fp64, Rank{0}, comm_);
  scatter(world_rank() == 0 ? data : nullptr, out_.data(), one, Type::fp64, Rank{0}, comm_);
  reduce(data, world_rank() == 0 ? out_.data() : nullptr, one, Type::fp64, Op::sum, Rank{0}, comm_);
  alltoall(nullptr, nullptr, Count{0}, Type::fp64, comm_);
}

TEST_F(Refusals, SpansOfTheWrongLength) {
  const std::span<const double> in{in_};
  const std::span<double> out{out_};
  expect_refused("allgather", [&] { allgather(in.first(3), out.first(3 * size() + 1), comm_); },
                 {"'out'", "a buffer of " + std::to_string(3 * size() + 1), std::to_string(3 * size())});
  expect_refused("scan", [&] { scan(in.first(3), out.first(4), Op::sum, comm_); }, {"'out'", "buffer of 4", "'in', 3"});
  if (size() > 1)
    expect_refused("alltoall", [&] { alltoall(out.first(size() + 1), comm_); }, {"'data'", "a multiple of"});
  const std::vector<Count> counts(size(), Count{2});
  expect_refused("allgatherv",
                 [&] {
                   allgatherv(in.first(1), out, {counts, {}}, comm_);
                 },
                 {"'in'", "buffer of 1", "2 elements"});
  expect_refused("allgatherv",
                 [&] {
                   allgatherv(in.first(2), out.first(2 * size() - 1), {counts, {}}, comm_);
                 },
                 {"'out'", "at least " + std::to_string(2 * size())});
}

TEST_F(Refusals, AlgorithmsThatDoNotServe) {
  const Op ordered = Op::user([](const void*, const void*, void*, Count, void*) {}, Commutative::no);
  for (const Collective collective : all_collectives()) {
    const auto with = [&](const std::string& algorithm, const Op& op) {
      return [=, this] {
        const Trial trial{.collective = collective, .count = 1};
        const checker::Problems problems = problems_of(trial, world_size());
        detail::Call call = call_of(trial, problems.of(comm_.rank()), Type::fp64, op);
        std::vector<double> in(size()), out(size());
        call.in = in.data();
        call.out = out.data();
        detail::run(call, comm_, {.algorithm = algorithm});
      };
    };
    const std::string name{to_string(collective)};
    expect_refused(name.c_str(), with("nonsense", Op::sum), {"'algorithm'", "'nonsense'", algorithm_names(collective)});
    for (const Algorithm* algorithm : algorithms()) {
      const std::string given{algorithm->name};
      if (algorithm->collective != collective) {
        if (find_algorithm(collective, algorithm->name) == nullptr)
          expect_refused(name.c_str(), with(given, Op::sum), {"'" + given + "'", algorithm_names(collective)});
        continue;
      }
      if (reduces(collective) && algorithm->order == Order::any)
        expect_refused(name.c_str(), with(given, ordered),
                       {"'" + given + "'", "not commutative", algorithm_names(collective, Order::of_ranks)});
      expect_refused(name.c_str(), with(given + "/0", Op::sum), {"segment size", "1 or more"});
      if (!algorithm->parameter.name.empty())
        expect_refused(name.c_str(), with(given + ":-1", Op::sum),
                       {std::string{algorithm->parameter.name}, "allowed", " to "});
    }
  }
}

TEST_F(Refusals, AveragesOfPrefixes) {
  expect_refused("scan", [&] { scan(std::span{in_}, Op::avg, comm_); }, {"'op'", "avg"});
  expect_refused("exscan", [&] { exscan(std::span{in_}, Op::avg, comm_); }, {"'op'", "avg"});
}

TEST(CommunicatorOptions, ChooseAlgorithms) {
  const Setting setting{"TUTTI_ALGORITHM", "allreduce=ring,gather=linear"};
  const Communicator plain{MPI_COMM_WORLD};
  const Communicator chosen{MPI_COMM_WORLD, {.algorithms = "allreduce=rabenseifner/64,broadcast=knomial:4"}};
  std::vector<double> data(20);
  EXPECT_EQ(plan_allreduce(std::span{data}, Op::sum, plain).algorithm(), "ring");
  EXPECT_NE(plan_allreduce(std::span{data}, Op::sum, plain).explain().find("TUTTI_ALGORITHM"), std::string::npos);
  EXPECT_NE(plan_allreduce(std::span{data}, Op::sum, chosen).explain().find("rabenseifner/64"), std::string::npos);
  EXPECT_NE(plan_broadcast(std::span{data}, Rank{0}, chosen).explain().find("knomial:4, the communicator's"),
            std::string::npos);
  EXPECT_EQ(plan_gather(data.data(), data.data() + 10, Count{1}, Type::fp64, Rank{0}, chosen).algorithm(), "linear")
      << "what the program does not name, the environment may";
  expect_throw<ArgumentError>(
      [] {
        const Communicator bad{MPI_COMM_WORLD, {.algorithms = "allgather=rign"}};
      },
      {"'algorithms'", "rign", "ring"});
  expect_throw<ArgumentError>(
      [] {
        const Communicator bad{MPI_COMM_WORLD, {.algorithms = "allgathr=ring"}};
      },
      {"'allgathr=ring'", "no collective", "allgather"});
}

}  // namespace
}  // namespace tutti::test
