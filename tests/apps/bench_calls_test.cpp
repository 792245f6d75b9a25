// The calls that tutti-bench measures, as far as they need no MPI: settings, blocks.
#include <gmock/gmock.h>

#include "apps/bench/collective.hpp"
#include "apps/bench/settings.hpp"

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
  settings.algorithm = "each";
  const std::vector<Experiment> experiments = resolved(settings, 2);
  EXPECT_THAT(experiments[0].algorithms, testing::Contains("ring"));
  EXPECT_GT(experiments[0].algorithms.size(), 1U);
  settings.algorithm = "ring/64K";
  EXPECT_THAT(resolved(settings, 2)[0].algorithms, ElementsAre("ring/64K"));
}

TEST(Settings, RefusesWhatDoesNotFit) {
  const auto refuses = [](auto change) {
    Settings settings;
    change(settings);
    EXPECT_THROW((void)resolved(settings, 4), apps::InputError);
  };
  refuses([](Settings& s) { s.op = "band"; });
  refuses([](Settings& s) { s.root = 4; });
  refuses([](Settings& s) { s.algorithm = "bring"; });
  refuses([](Settings& s) { s.algorithm = "ring/x"; });
  refuses([](Settings& s) { s.algorithm = "recursive_doubling:7"; });
  refuses([](Settings& s) { s.algorithm = "ring", s.collectives = {"allreduce", "barrier"}; });
  refuses([](Settings& s) { s.algorithm = "ring", s.collectives = {"sendrecv"}; });
  refuses([](Settings& s) { s.op = "avg", s.collectives = {"scan"}; });
  refuses([](Settings& s) { s.min = Bytes{s.max.value() + 1}; });
  refuses([](Settings& s) { s.min = s.max = Bytes{3}; });
  refuses([](Settings& s) { s.type = "bf16", s.compare = "mpi"; });
  refuses([](Settings& s) { s.op = "avg", s.compare = "mpi"; });
  refuses([](Settings& s) { s.json = s.csv = "same"; });
}

}  // namespace
}  // namespace tutti::bench
