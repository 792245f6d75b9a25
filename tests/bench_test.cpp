// tutti-bench's parts that need no MPI: statistics, sweep, table, values, reports.
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "apps/bench/collective.hpp"
#include "apps/bench/machine.hpp"
#include "apps/bench/pattern.hpp"
#include "apps/bench/report.hpp"
#include "apps/bench/settings.hpp"
#include "apps/bench/statistics.hpp"
#include "apps/bench/summary.hpp"
#include "apps/bench/sweep.hpp"
#include "apps/bench/table.hpp"

namespace tutti::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Statistics, MedianOfOddAndEvenNumbers) {
  const Spread odd = spread_of({3, 1, 2});
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.max, 3);
  EXPECT_EQ(spread_of({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(spread_of({7}).median, 7);
}

TEST(Statistics, GeometricMean) {
  EXPECT_NEAR(*geometric_mean(std::vector{0.5, 2.0, 8.0}), 2.0, 1e-12);
  EXPECT_FALSE(geometric_mean({}));
}

std::vector<std::int64_t> counts(std::int64_t least, std::int64_t most, int factor, int element) {
  std::vector<std::int64_t> values;
  for (const Count count : sweep(Bytes{least}, Bytes{most}, factor, Bytes{element})) {
    values.push_back(count.value());
  }
  return values;
}

TEST(Sweep, MultipliesUpToTheLargest) {
  EXPECT_THAT(counts(8, 128, 4, 4), ElementsAre(2, 8, 32));
  EXPECT_THAT(counts(8, 127, 4, 4), ElementsAre(2, 8));
  EXPECT_THAT(counts(8, 8, 2, 8), ElementsAre(1));
}

TEST(Sweep, RoundsToElementsWithoutRepeating) {
  EXPECT_THAT(counts(1, 64, 2, 16), ElementsAre(1, 2, 4));
  EXPECT_THAT(counts(10, 40, 2, 4), ElementsAre(2, 5, 10));
}

TEST(Sweep, EndsAtTheLargestOfAllSizes) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(counts(1, most, 2, 1).size(), 63U);
  EXPECT_THAT(counts(most, most, 2, 1), ElementsAre(most));
}

TEST(Sweep, CallsFillARound) {
  EXPECT_EQ(calls_per_round(round_seconds), 1);
  EXPECT_EQ(calls_per_round(10.0), 1);
  EXPECT_EQ(calls_per_round(round_seconds / 100), 100);
  EXPECT_EQ(calls_per_round(0.0), most_calls);
  EXPECT_EQ(calls_per_round(1e-12), most_calls);
  EXPECT_EQ(calls_before_round(7), 0);
}

TEST(Table, TimesHaveFourDigits) {
  EXPECT_EQ(time_text(0.0904), "0.0904");
  EXPECT_EQ(time_text(1.2345), "1.234");
  EXPECT_EQ(time_text(12.345), "12.35");
  EXPECT_EQ(time_text(123.45), "123.5");
  EXPECT_EQ(time_text(105600.4), "105600");
  EXPECT_EQ(bandwidth_text(0.5), "0.500");
  EXPECT_EQ(bandwidth_text(12.34), "12.3");
}

Record sample() {
  Record record;
  record.collective = "allreduce";
  record.algorithm = "ring";
  record.transport = "mpi";
  record.memory = "host";
  record.mode = "blocking";
  record.ranks = 2;
  record.nodes = 1;
  record.bytes = 8192;
  record.count = 2048;
  record.type = "fp32";
  record.op = "sum";
  record.placement = Placement::in_place;
  record.time_us = {1, 2, 4};
  record.algbw = 4.096;
  record.busbw = 4.096;
  return record;
}

TEST(Table, HeaderAndRowsAlign) {
  const Table table{{.type = 4, .op = 3, .algorithm = 18, .peer = "mpi"}};
  Record record = sample();
  record.peer = Peer{"Open MPI 4.1.4", "blocking", {2, 3, 4}, 1.5};
  const std::string header = table.header(), row = table.row(record);
  const std::string titles = header.substr(0, header.find('\n') + 1);
  EXPECT_EQ(titles.front(), '#');
  EXPECT_EQ(titles.size(), row.size());
  EXPECT_LE(row.size(), 160U);
  EXPECT_THAT(row, HasSubstr(" ring "));
  EXPECT_THAT(row, HasSubstr("      -    3.000   1.50\n"));
}

TEST(Table, NothingComparedHasNoColumns) {
  const Table table{{.type = 4, .op = 3, .algorithm = 4, .peer = ""}};
  EXPECT_THAT(table.header(), testing::Not(HasSubstr("ratio")));
  Record record = sample();
  record.wrong = 3;
  EXPECT_THAT(table.row(record), testing::EndsWith(" 3\n"));
}

TEST(Machine, RangesOfCpus) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({5}), "5");
  EXPECT_EQ(ranges_text({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

TEST(Report, JsonHoldsTheRecord) {
  Machine machine;
  machine.hosts = {"a", "b"};
  Record record = sample();
  const auto plain = to_json(machine, std::span{&record, 1});
  EXPECT_TRUE(plain["results"][0]["wrong"].is_null());
  EXPECT_TRUE(plain["results"][0]["peer"].is_null());
  EXPECT_TRUE(plain["results"][0]["root"].is_null());
  EXPECT_TRUE(plain["summary"][0]["geometric_mean_ratio"]["in_place"].is_null());
  EXPECT_TRUE(plain["summary"][0]["wrong"].is_null());
  record.wrong = 0;
  record.peer = Peer{"Open MPI 4.1.4", "blocking", {2, 3, 4}, 1.5};
  const auto compared = to_json(machine, std::span{&record, 1});
  EXPECT_EQ(compared["results"][0]["wrong"], 0);
  EXPECT_EQ(compared["results"][0]["peer"]["ratio"], 1.5);
  EXPECT_EQ(compared["results"][0]["time_us"]["median"], 2.0);
  EXPECT_EQ(compared["results"][0]["in_place"], true);
  EXPECT_EQ(compared["summary"][0]["geometric_mean_ratio"]["in_place"], 1.5);
  EXPECT_EQ(compared["summary"][0]["wrong"], 0);
  EXPECT_EQ(compared["environment"]["host"], "a");
}

TEST(Report, CsvLinesHaveEqualFields) {
  std::vector<Record> records{sample(), sample()};
  records[1].peer = Peer{"Open MPI 4.1.4", "blocking", {2, 3, 4}, 1.5};
  records[1].wrong = 0;
  std::istringstream lines{to_csv(records)};
  std::vector<std::ptrdiff_t> commas;
  for (std::string line; std::getline(lines, line);) {
    commas.push_back(std::count(line.begin(), line.end(), ','));
  }
  EXPECT_THAT(commas, ElementsAre(27, 27, 27));
}

TEST(Summary, GoesByCollectiveAndByAlgorithmUnlessTuttiChose) {
  std::vector<Record> records(5, sample());
  records[0].collective = records[1].collective = "scan";
  records[2].algorithm = "rabenseifner";
  records[3].is_auto = records[4].is_auto = true;
  records[4].algorithm = "rabenseifner";
  records[3].wrong = 2;
  records[4].wrong = 3;
  records[4].peer = Peer{"Open MPI 4.1.4", "blocking", {2, 3, 4}, 4};
  records[3].peer = Peer{"Open MPI 4.1.4", "blocking", {2, 3, 4}, 1};
  records[3].placement = records[4].placement = Placement::out_of_place;
  const std::vector<Summary> summaries = summarised(records);
  ASSERT_EQ(summaries.size(), 3U);
  EXPECT_EQ(summaries[0].collective, "scan");
  EXPECT_EQ(summaries[1].algorithm, "rabenseifner");
  EXPECT_EQ(summaries[2].algorithm, "auto");
  EXPECT_NEAR(*summaries[2].out_of_place, 2, 1e-12);
  EXPECT_FALSE(summaries[2].in_place);
  EXPECT_EQ(summaries[2].wrong, 5);
  EXPECT_THAT(to_text(summaries), HasSubstr("wrong elements in all: 5\n"));
}

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

class Output : public testing::Test {
 protected:
  void SetUp() override {
    // Cases of this suite run at once, as processes of their own.
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = std::filesystem::temp_directory_path() / ("tutti_bench_test_" + name);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name) const { return folder_ / name; }
  std::filesystem::path folder_;
};

TEST_F(Output, AppearsWhenComplete) {
  OutputFile file{"json", path("out")};
  EXPECT_FALSE(std::filesystem::exists(path("out")));
  file.commit("whole\n");
  std::string text;
  std::getline(std::ifstream{path("out")}, text);
  EXPECT_EQ(text, "whole");
}

TEST_F(Output, LeavesNothingIfNotCommitted) {
  { const OutputFile file{"json", path("out")}; }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Output, RefusesAtOnce) {
  EXPECT_THROW(OutputFile("json", path("no/such/folder/out")), apps::InputError);
  EXPECT_THROW(OutputFile("json", folder_), apps::InputError);
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
      int sum = 0, product = 1;
      for (int rank = 0; rank < ranks; ++rank) {
        sum += pattern_value(Op::Kind::sum, rank, ranks, position);
        product *= pattern_value(Op::Kind::prod, rank, ranks, position);
      }
      ASSERT_LE(sum, 127) << ranks;
      ASSERT_LE(product, 127) << ranks;
    }
  }
}

TEST(Pattern, ValuesDependOnRankAndPosition) {
  for (const Op& op : operations()) {
    int by_rank = 0, by_position = 0;
    for (std::int64_t position = 0; position < pattern_period; ++position) {
      const int value = pattern_value(op.kind(), 0, 4, position);
      by_rank += value != pattern_value(op.kind(), 1, 4, position) ? 1 : 0;
      by_position += value != pattern_value(op.kind(), 0, 4, position + 1) ? 1 : 0;
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
