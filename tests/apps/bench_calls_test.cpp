// The calls that tutti-bench measures, as far as they need no MPI: settings, blocks, values.
#include <gmock/gmock.h>

#include <bit>

#include "apps/bench/collective.hpp"
#include "apps/bench/pattern.hpp"
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

std::vector<Op> operations() {
  std::vector<Op> all;
  for (const std::string_view name : op_names) {
    all.push_back(op_named(name).value());
  }
  return all;
}

TEST(Pattern, PartialSumsAndProductsFitTheSmallestType) {
  for (const int ranks : {1, 2, 3, 7, 42, 43, 64, 100, 1024}) {
    for (std::int64_t position = 0; position < pattern_period; ++position) {
      int sum = 0, product = 1, fp8_sum = 0, fp8_product = 1;
      for (int rank = 0; rank < ranks; ++rank) {
        sum += pattern_value(Type::int8, Op::Kind::sum, rank, ranks, position);
        product *= pattern_value(Type::int8, Op::Kind::prod, rank, ranks, position);
        fp8_sum += pattern_value(Type::fp8_e5m2, Op::Kind::sum, rank, ranks, position);
        fp8_product *= pattern_value(Type::fp8_e4m3, Op::Kind::prod, rank, ranks, position);
      }
      ASSERT_LE(sum, 127) << ranks;
      ASSERT_LE(product, 127) << ranks;
      ASSERT_LE(fp8_sum, 8) << ranks;
      ASSERT_TRUE(std::has_single_bit(static_cast<unsigned>(fp8_product)) && fp8_product <= 256) << ranks;
    }
  }
}

TEST(Pattern, ValuesDependOnRankAndPosition) {
  for (const Op& op : operations()) {
    int by_rank = 0, by_position = 0;
    for (std::int64_t position = 0; position < pattern_period; ++position) {
      const int value = pattern_value(Type::fp32, op.kind(), 0, 4, position);
      by_rank += value != pattern_value(Type::fp32, op.kind(), 1, 4, position) ? 1 : 0;
      by_position += value != pattern_value(Type::fp32, op.kind(), 0, 4, position + 1) ? 1 : 0;
    }
    EXPECT_GT(by_rank, 0) << to_string(op.kind());
    EXPECT_GT(by_position, 0) << to_string(op.kind());
  }
}

/// For every type and operation that fit.
template <class Body>
void for_each_case(Body body) {
  for (int i = 0; i < type_count; ++i) {
    const auto type = static_cast<Type>(i);
    for (const Op& op : operations()) {
      if (supports(op.kind(), type)) body(type, op);
    }
  }
}

std::vector<std::byte> bytes_of(const Pattern& pattern, Type type, std::int64_t count) {
  std::vector<std::byte> data(static_cast<std::size_t>(count * size_of(type).value()));
  pattern.write_to(memories().front(), data);
  return data;
}

TEST(Pattern, FindsItselfAndCountsEveryDifference) {
  constexpr std::int64_t count = pattern_period * 70;  // More than is compared at once.
  for_each_case([](Type type, const Op& op) {
    const Pattern pattern = reduced_pattern(type, op, 5);
    auto data = bytes_of(pattern, type, count);
    const double tolerance = rounding_tolerance(type, op);
    EXPECT_EQ(pattern.differences(memories().front(), data, tolerance), 0) << to_string(type);
    const auto element = static_cast<std::size_t>(size_of(type).value());
    data[element - 1] ^= std::byte{0x40};  // Sign or exponent, of the first and the last.
    data[data.size() - 1] ^= std::byte{0x40};
    EXPECT_EQ(pattern.differences(memories().front(), data, tolerance), 2) << to_string(type) << to_string(op.kind());
  });
}

TEST(Pattern, GoesOnFromAnyPosition) {
  constexpr std::int64_t count = pattern_period * 70, skipped = 12'345;
  const Pattern pattern = input_pattern(Type::int16, Op::max, 1, 4);
  const auto data = bytes_of(pattern, Type::int16, count);
  const auto rest = std::span{data}.subspan(static_cast<std::size_t>(2 * skipped));
  EXPECT_EQ(pattern.differences(memories().front(), rest, 0, skipped), 0);
  EXPECT_GT(pattern.differences(memories().front(), rest, 0, skipped + 1), count / 2);
}

TEST(Pattern, WhatIsUntouchedLooksLikeNoResult) {
  for_each_case([](Type type, const Op& op) {
    const auto data = bytes_of(untouched_pattern(type), type, pattern_period);
    EXPECT_EQ(reduced_pattern(type, op, 3).differences(memories().front(), data, 0.1), pattern_period);
    EXPECT_EQ(input_pattern(type, op, 1, 3).differences(memories().front(), data, 0.1), pattern_period);
  });
}

TEST(Pattern, DiffersFromTheInputAndWithoutARank) {
  for_each_case([](Type type, const Op& op) {
    const Pattern pattern = reduced_pattern(type, op, 4);
    EXPECT_GT(pattern.differences(memories().front(), bytes_of(input_pattern(type, op, 0, 4), type, pattern_period), 0),
              0)
        << to_string(type) << to_string(op.kind());
  });
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
