// The calls that tutti-bench measures, as far as they need no MPI: settings, blocks, values.
#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "apps/bench/calls.hpp"
#include "apps/bench/collective.hpp"
#include "apps/bench/settings.hpp"
#include "apps/bench/values.hpp"

namespace tutti::bench {
namespace {

using testing::ElementsAre;

TEST(Division, UnevenBlocksHaveTheSameTotalOnAllRanks) {
  for (const Divided how : {Divided::evenly, Divided::unevenly, Divided::unevenly_by_pair}) {
    for (const int ranks : {1, 2, 3, 4, 7, 64}) {
      for (const int mean : {1, 2, 10, 1001}) {
        for (int of = 0; of < ranks; ++of) {
          const Division blocks{how, Count{mean * ranks}, ranks, of};
          for (int rank = 0; rank < ranks; ++rank) {
            ASSERT_GE(2 * blocks.count(rank).value(), mean);
            ASSERT_LE(2 * blocks.count(rank).value(), 3 * mean);
          }
          ASSERT_EQ((blocks.offset(ranks - 1) + blocks.count(ranks - 1)).value(), mean * ranks);
        }
      }
    }
  }
}

TEST(Division, BlocksByPairAreSymmetric) {
  const Division first{Divided::unevenly_by_pair, Count{500}, 5, 1}, other{Divided::unevenly_by_pair, Count{500}, 5, 3};
  EXPECT_EQ(first.count(3), other.count(1));
  EXPECT_NE(first.count(0), first.count(1));
}

template <class T>
std::vector<T> input(const Operands& operands, int rank) {
  std::vector<T> elements(period);
  write_input(operands, rank, 0, std::as_writable_bytes(std::span{elements}));
  return elements;
}

template <class T>
void expect_sums_that_fit(Type type) {
  for (const int ranks : {1, 2, 3, 7, 42, 43, 64, 100, 127, 128, 1024}) {
    const Operands operands{.type = type, .op = Op::sum, .combines = true, .ranks = ranks, .by_mpi = true};
    std::vector<int> sums(period);
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<T> elements = input<T>(operands, rank);
      std::transform(sums.begin(), sums.end(), elements.begin(), sums.begin(), std::plus{});
      EXPECT_NE(elements, std::vector<T>(period)) << "rank " << rank << " of " << ranks << " has nothing to add";
    }
    EXPECT_LE(*std::ranges::max_element(sums), std::numeric_limits<T>::max()) << ranks;
  }
}

TEST(Values, SumsThatTheMpiMakesFitTheSmallestTypes) {
  expect_sums_that_fit<std::int8_t>(Type::int8);
  expect_sums_that_fit<std::uint8_t>(Type::uint8);
  expect_sums_that_fit<std::int16_t>(Type::int16);
}

TEST(Values, DependOnRankAndPositionForEveryTypeAndOperation) {
  for (int type = 0; type < type_count; ++type) {
    for (const std::string_view name : op_names) {
      const Op op = op_named(name).value();
      if (!supports(op.kind(), static_cast<Type>(type))) continue;
      const auto bytes = static_cast<std::size_t>(period * size_of(static_cast<Type>(type)).value());
      std::vector<std::byte> first(bytes), second(bytes), later(bytes);
      const Operands operands{.type = static_cast<Type>(type), .op = op, .combines = true, .ranks = 4, .by_mpi = true};
      write_input(operands, 0, 0, first);
      write_input(operands, 1, 0, second);
      write_input(operands, 0, 1, later);
      EXPECT_TRUE(first != second && first != later) << to_string(operands.type) << ' ' << name;
      write_result(operands, {0, 4, 0}, second);
      EXPECT_NE(first, second) << to_string(operands.type) << ' ' << name;
    }
  }
}

TEST(Values, OfBooleansAreCombinedByLogic) {
  for (const Op& op : {Op::sum, Op::prod, Op::min, Op::max, Op::land, Op::lor, Op::lxor}) {
    const Operands operands{.type = Type::boolean, .op = op, .combines = true, .ranks = 3};
    std::vector<std::uint8_t> result(period);
    write_result(operands, {0, 3, 0}, std::as_writable_bytes(std::span{result}));
    const auto a = input<std::uint8_t>(operands, 0), b = input<std::uint8_t>(operands, 1),
               c = input<std::uint8_t>(operands, 2);
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_LE(std::max({a[i], b[i], c[i]}), 1);
      const auto logical = detail::of_booleans(op.kind());
      const int expected = logical == Op::Kind::land  ? a[i] & b[i] & c[i]
                           : logical == Op::Kind::lor ? a[i] | b[i] | c[i]
                                                      : a[i] ^ b[i] ^ c[i];
      ASSERT_EQ(result[i], expected) << to_string(op.kind());
    }
  }
}

TEST(Settings, AcceptsItsDefaults) {
  const Settings settings;
  const std::vector<Experiment> experiments = resolved(settings, 1);
  ASSERT_EQ(experiments.size(), 1U);
  const Experiment& what = experiments.front();
  EXPECT_EQ(what.collective->name, "allreduce");
  EXPECT_EQ(what.type, Type::fp32);
  EXPECT_EQ(what.counts.front(), Count{2});
  EXPECT_EQ(what.placements.size(), 2U);
  EXPECT_THAT(what.algorithms, ElementsAre(""));
}

TEST(Settings, SizesAreOfTheLargerBufferAndAMultipleOfItsBlocks) {
  Settings settings;
  settings.collectives = {"barrier", "allgather", "scan"};
  settings.min = Bytes{8}, settings.max = Bytes{64}, settings.factor = 8;
  const std::vector<Experiment> experiments = resolved(settings, 3);
  EXPECT_THAT(experiments[0].counts, ElementsAre(Count{0}));
  EXPECT_THAT(experiments[1].counts, ElementsAre(Count{3}, Count{15}));
  EXPECT_THAT(experiments[2].counts, ElementsAre(Count{2}, Count{16}));
}

TEST(Settings, PlacementsAreThoseThatACollectiveHas) {
  Settings settings;
  settings.collectives = {"broadcast", "sendrecv", "scan"};
  settings.placement = "out";
  const std::vector<Experiment> experiments = resolved(settings, 2);
  EXPECT_THAT(experiments[0].placements, ElementsAre(Placement::in_place));
  EXPECT_THAT(experiments[1].placements, ElementsAre(Placement::out_of_place));
  EXPECT_THAT(experiments[2].placements, ElementsAre(Placement::out_of_place));
}

TEST(Settings, EachAlgorithmIsMeasured) {
  Settings settings;
  settings.algorithms = {"each"};
  const std::vector<Experiment> experiments = resolved(settings, 2);
  EXPECT_THAT(experiments[0].algorithms, testing::Contains("ring"));
  EXPECT_GT(experiments[0].algorithms.size(), 1U);
  settings.algorithms = {"ring/64K"};
  EXPECT_THAT(resolved(settings, 2)[0].algorithms, ElementsAre("ring/64K"));
}

TEST(Settings, AlgorithmsAreListsInWhichNoneComesTwice) {
  Settings settings;
  settings.algorithms = {"auto", "ring", "knomial:4/8K", "ring"};
  settings.collectives = {"reduce"};
  EXPECT_THROW((void)resolved(settings, 2), apps::InputError) << "reduce has no ring";
  settings.algorithms = {"auto", "knomial:4/8K", "auto", "knomial:4/8K"};
  EXPECT_THAT(resolved(settings, 2)[0].algorithms, ElementsAre("", "knomial:4/8K"));
  EXPECT_FALSE(resolved(settings, 2)[0].has_selected);
  settings.algorithms = {"chain/64K", "each"};
  EXPECT_TRUE(resolved(settings, 2)[0].has_selected) << "Tutti's own choices, too";
  EXPECT_EQ(resolved(settings, 2)[0].algorithms.front(), "chain/64K");
}

TEST(Settings, SizesMayBeListed) {
  Settings settings;
  settings.sizes = {Bytes{64}, Bytes{8}, Bytes{66}, Bytes{1024}};
  EXPECT_THAT(resolved(settings, 2)[0].counts, ElementsAre(Count{2}, Count{16}, Count{256}));
  settings.has_range = true;
  EXPECT_THROW((void)resolved(settings, 2), apps::InputError);
}

TEST(Settings, OverlapIsOfCallsThatDoNotBlock) {
  Settings settings;
  settings.is_overlapped = true;
  EXPECT_EQ(resolved(settings, 2)[0].mode, Mode::nonblocking);
  settings.mode = "persistent";
  EXPECT_EQ(resolved(settings, 2)[0].mode, Mode::persistent);
}

TEST(Choice, IsReadFromAnExplanation) {
  EXPECT_EQ(choice_in("allreduce of 1000 elements of fp32 on 4 ranks of 1 node: ring/64K, as many bytes want it; 4"),
            "ring/64K");
}

TEST(Settings, RefusesWhatDoesNotFit) {
  const auto refuses = [](auto change) {
    Settings settings;
    change(settings);
    EXPECT_THROW((void)resolved(settings, 4), apps::InputError);
  };
  refuses([](Settings& s) { s.op = "band"; });
  refuses([](Settings& s) { s.root = 4; });
  refuses([](Settings& s) { s.algorithms = {"bring"}; });
  refuses([](Settings& s) { s.algorithms = {"ring/x"}; });
  refuses([](Settings& s) { s.algorithms = {"recursive_doubling:7"}; });
  refuses([](Settings& s) { s.algorithms = {"ring"}, s.collectives = {"allreduce", "barrier"}; });
  refuses([](Settings& s) { s.algorithms = {"ring"}, s.collectives = {"sendrecv"}; });
  refuses([](Settings& s) { s.op = "avg", s.collectives = {"scan"}; });
  refuses([](Settings& s) { s.min = Bytes{s.max.value() + 1}; });
  refuses([](Settings& s) { s.min = s.max = Bytes{3}; });
  refuses([](Settings& s) { s.type = "bf16", s.compare = "mpi"; });
  refuses([](Settings& s) { s.op = "avg", s.compare = "mpi"; });
  refuses([](Settings& s) { s.json = s.csv = "same"; });
  refuses([](Settings& s) { s.sizes = {Bytes{8}, Bytes{3}}; });
  refuses([](Settings& s) { s.is_overlapped = s.is_touched = true; });
  refuses([](Settings& s) { s.is_overlapped = true, s.calls = "mpi"; });
  refuses([](Settings& s) { s.has_pairs = true, s.compare = "mpi"; });
  refuses([](Settings& s) { s.has_pairs = true, s.ranks = {2}; });
}

}  // namespace
}  // namespace tutti::bench
