// tutti-bench's parts that need no MPI: statistics, sweep, tables, reports.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/bench/machine.hpp"
#include "apps/bench/measure.hpp"
#include "apps/bench/records.hpp"
#include "apps/bench/report.hpp"
#include "apps/bench/statistics.hpp"
#include "apps/bench/text.hpp"
#include "apps/options.hpp"
#include "apps/ranges.hpp"

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

TEST(Statistics, TenthsLieBetweenValuesInProportion) {
  const Spread eleven = spread_of({10, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(eleven.p10, 1);
  EXPECT_EQ(eleven.p90, 9);
  EXPECT_DOUBLE_EQ(spread_of({0, 1}).p10, 0.1);
  EXPECT_EQ(spread_of({7}).p90, 7);
}

TEST(Statistics, GeometricMean) {
  EXPECT_NEAR(*geometric_mean(std::vector{0.5, 2.0, 8.0}), 2.0, 1e-12);
  EXPECT_FALSE(geometric_mean({}));
}

std::vector<std::int64_t> counts(std::int64_t least, std::int64_t most, int factor, int element) {
  std::vector<std::int64_t> values;
  for (const Count count : sweep(Bytes{least}, Bytes{most}, factor, Bytes{element}))
    values.push_back(count.value());
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
  record.time_us = {.min = 1, .p10 = 1.25, .median = 2, .p90 = 3.5, .max = 4};
  record.rounds_us = {1, 2, 4};
  record.algbw = 4.096;
  record.busbw = 4.096;
  return record;
}

/// The MPI's call, `ratio` times as long.
Peer peer_of(double ratio, std::vector<Doubt> doubts = {}) {
  return {.name = "Open MPI 4.1.4",
          .mode = "blocking",
          .time_us = {.min = 2, .p10 = 2, .median = 3, .p90 = 4, .max = 4},
          .rounds_us = {2, 3, 4},
          .ratio = {.value = ratio, .lower = ratio / 2, .upper = ratio * 2, .doubts = std::move(doubts)}};
}

TEST(Table, HeaderAndRowsAlign) {
  const Table table{{.type = 4, .op = 3, .algorithm = 18, .peer = "mpi"}};
  Record record = sample();
  record.peer = peer_of(1.5);
  const std::string header = table.header(), row = table.row(record);
  const std::string titles = header.substr(0, header.find('\n') + 1);
  EXPECT_EQ(titles.front(), '#');
  EXPECT_EQ(titles.size(), row.size());
  EXPECT_LE(row.size(), 160U);
  EXPECT_THAT(row, HasSubstr(" ring "));
  EXPECT_THAT(row, HasSubstr("      -    3.000   1.50\n"));
}

TEST(Table, MarksWhatIsNotResolved) {
  const Table table{{.type = 4, .op = 3, .algorithm = 18, .peer = "mpi"}};
  Record record = sample();
  record.peer = peer_of(29.5, {Doubt::extreme});
  EXPECT_THAT(table.row(record), testing::EndsWith("  29.50 ?\n"));
}

TEST(Table, ShowsOverlaps) {
  Table::Layout layout{.type = 4, .op = 3, .algorithm = 18, .peer = "mpi", .has_overlap = true};
  Record record = sample();
  record.overlap = Overlap{.pure_us = {}, .compute_us = {.median = 10}, .total_us = {.median = 12}, .percent = 80};
  record.peer = peer_of(1.5);
  record.peer->overlap = Overlap{.pure_us = {}, .compute_us = {}, .total_us = {.median = 20}, .doubts = {Doubt::load}};
  EXPECT_THAT(Table{layout}.row(record), HasSubstr("1.50      10.00    12.00      80      20.00       0 ?\n"));
  layout.peer = "";
  EXPECT_THAT(Table{layout}.row(record), testing::EndsWith("12.00      80\n"));
}

TEST(Notes, SayHowManyRatiosAreNotResolvedAndWhy) {
  const std::vector<Ratio> ratios{peer_of(1.5).ratio, peer_of(29.5, {Doubt::extreme, Doubt::load}).ratio,
                                  peer_of(1, {Doubt::both_sides}).ratio, peer_of(0.04, {Doubt::extreme}).ratio};
  const std::string text = doubts_text(ratios);
  EXPECT_THAT(text, HasSubstr("# ?: not resolved, 3 of 4 ratios."));
  EXPECT_THAT(text, HasSubstr("#    2 above 10 or below 1/10\n"));
  EXPECT_THAT(text, HasSubstr("#    1 with 1 inside the middle half of their rounds\n"));
  EXPECT_THAT(text, HasSubstr("#    1 measured while other processes took over 12 % of the processors\n"));
  EXPECT_EQ(doubts_text(std::span{ratios}.first(1)), "");
}

TEST(Table, NothingComparedHasNoColumns) {
  const Table table{{.type = 4, .op = 3, .algorithm = 4, .peer = ""}};
  EXPECT_THAT(table.header(), testing::Not(HasSubstr("ratio")));
  Record record = sample();
  record.wrong = 3;
  EXPECT_THAT(table.row(record), testing::EndsWith(" 3\n"));
}

TEST(Machine, RangesOfCpus) {
  EXPECT_EQ(apps::ranges_text({}), "");
  EXPECT_EQ(apps::ranges_text({5}), "5");
  EXPECT_EQ(apps::ranges_text({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

/// The report as a program reads it.
nlohmann::ordered_json read_back(const Machine& machine, const Record& record) {
  return nlohmann::ordered_json::parse(json_text(machine, std::span{&record, 1}));
}

TEST(Report, JsonHoldsTheRecord) {
  Machine machine;
  machine.hosts = {"a", "b"};
  Record record = sample();
  const auto plain = read_back(machine, record);
  EXPECT_TRUE(plain["results"][0]["wrong"].is_null());
  EXPECT_TRUE(plain["results"][0]["peer"].is_null());
  EXPECT_TRUE(plain["results"][0]["root"].is_null());
  EXPECT_TRUE(plain["summary"][0]["geometric_mean_ratio"]["in_place"].is_null());
  EXPECT_TRUE(plain["summary"][0]["wrong"].is_null());
  record.wrong = 0;
  record.peer = peer_of(1.5);
  const auto compared = read_back(machine, record);
  EXPECT_EQ(compared["results"][0]["wrong"], 0);
  EXPECT_EQ(compared["results"][0]["peer"]["ratio"], 1.5);
  EXPECT_EQ(compared["results"][0]["peer"]["ratio_middle_half"], nlohmann::ordered_json({0.75, 3.0}));
  EXPECT_EQ(compared["results"][0]["peer"]["resolved"], true);
  EXPECT_EQ(compared["results"][0]["peer"]["rounds_us"].size(), 3U);
  EXPECT_EQ(compared["results"][0]["rounds_us"], nlohmann::ordered_json({1.0, 2.0, 4.0}));
  EXPECT_EQ(compared["results"][0]["time_us"]["p90"], 3.5);
  EXPECT_EQ(compared["summary"][0]["ratios"], 1);
  EXPECT_EQ(compared["summary"][0]["unresolved"], 0);
  record.peer = peer_of(29.5, {Doubt::extreme, Doubt::few_rounds});
  const auto doubtful = read_back(machine, record);
  EXPECT_EQ(doubtful["results"][0]["peer"]["resolved"], false);
  EXPECT_EQ(doubtful["results"][0]["peer"]["doubts"], nlohmann::ordered_json({"extreme", "few_rounds"}));
  EXPECT_EQ(doubtful["summary"][0]["unresolved"], 1);
  EXPECT_EQ(compared["results"][0]["time_us"]["median"], 2.0);
  EXPECT_EQ(compared["results"][0]["in_place"], true);
  EXPECT_EQ(compared["summary"][0]["geometric_mean_ratio"]["in_place"], 1.5);
  EXPECT_EQ(compared["summary"][0]["wrong"], 0);
  EXPECT_EQ(compared["environment"]["host"], "a");
}

TEST(Table, ShowsTheWorkOfDeviceBuffers) {
  Record record = sample();
  record.device =
      DeviceWork{.fetched_bytes = 100, .stored_bytes = 20, .driver = DriverWork{9.5, 2, 3, 0}, .traffic_share = 1.5};
  const Table counted{{.type = 4, .op = 3, .algorithm = 4, .peer = "", .work = Table::Work::of_driver}};
  EXPECT_THAT(counted.header(), HasSubstr("moved  calls kernels copies  syncs traffic\n"));
  EXPECT_THAT(counted.row(record), testing::EndsWith(" 120    9.5       2      3      0    1.50\n"));
  record.device->traffic_share.reset();
  EXPECT_THAT(counted.row(record), testing::EndsWith("      3      0       -\n"));
  const Table uncounted{{.type = 4, .op = 3, .algorithm = 4, .peer = "", .work = Table::Work::bytes}};
  EXPECT_THAT(uncounted.row(record), testing::EndsWith(" 120\n"));
}

TEST(Report, HoldsTheWorkOfDeviceBuffers) {
  Machine machine;
  machine.hosts = {"a"};
  Record record = sample();
  EXPECT_TRUE(read_back(machine, record)["results"][0]["device"].is_null());
  record.device = DeviceWork{.fetched_bytes = 100, .stored_bytes = 20, .driver = {}, .traffic_share = {}};
  const auto uncounted = read_back(machine, record)["results"][0]["device"];
  EXPECT_EQ(uncounted["moved_bytes"], 120.0);
  EXPECT_TRUE(uncounted["driver_calls"].is_null() && uncounted["traffic_share"].is_null());
  EXPECT_THAT(to_csv(std::span{&record, 1}), testing::EndsWith(",120,100,20,,,,,\n"));
  record.device->driver = DriverWork{9.5, 2, 3, 0};
  record.device->traffic_share = 1.5;
  EXPECT_EQ(read_back(machine, record)["results"][0]["device"]["kernels"], 2.0);
  EXPECT_THAT(to_csv(std::span{&record, 1}), testing::EndsWith(",120,100,20,9.5,2,3,0,1.5\n"));
}

TEST(Report, JsonIsWrittenWhateverNamesAreMadeOf) {
  Machine machine;
  machine.hosts = {"h\xff"};
  machine.mpi_settings = {"UCX_TLS=\xfe"};
  machine.command = "tutti-bench --json \xc3.json";
  const Record record = sample();
  const std::string text = json_text(machine, std::span{&record, 1});
  const auto read = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(read["environment"]["host"], "h\xef\xbf\xbd");
  EXPECT_EQ(read["environment"]["command"], "tutti-bench --json \xef\xbf\xbd.json");
  EXPECT_EQ(read["results"].size(), 1U);
}

TEST(Report, CsvLinesHaveEqualFields) {
  std::vector<Record> records{sample(), sample(), sample()};
  records[1].peer = peer_of(1.5);
  records[1].wrong = 0;
  records[2].device = DeviceWork{};
  records[2].list = 7;
  std::istringstream lines{to_csv(records)};
  std::vector<std::ptrdiff_t> commas;
  for (std::string line; std::getline(lines, line);) {
    commas.push_back(std::count(line.begin(), line.end(), ','));
  }
  EXPECT_THAT(commas, ElementsAre(41, 41, 41, 41));
}

TEST(Summary, GoesByCollectiveAndByAlgorithmUnlessTuttiChose) {
  std::vector<Record> records(5, sample());
  records[0].collective = records[1].collective = "scan";
  records[2].algorithm = "rabenseifner";
  records[3].is_auto = records[4].is_auto = true;
  records[4].algorithm = "rabenseifner";
  records[3].wrong = 2;
  records[4].wrong = 3;
  records[4].peer = peer_of(4);
  records[3].peer = peer_of(1);
  records[3].placement = records[4].placement = Placement::out_of_place;
  const std::vector<Summary> summaries = summarised(records);
  ASSERT_EQ(summaries.size(), 3U);
  EXPECT_EQ(summaries[0].collective, "scan");
  EXPECT_EQ(summaries[1].algorithm, "rabenseifner");
  EXPECT_EQ(summaries[2].algorithm, "auto");
  EXPECT_NEAR(*summaries[2].out_of_place, 2, 1e-12);
  EXPECT_FALSE(summaries[2].in_place);
  EXPECT_EQ(summaries[2].wrong, 5);
  EXPECT_EQ(summaries[2].ratios, 2);
  EXPECT_THAT(to_text(summaries), HasSubstr("wrong elements in all: 5\n"));
}

TEST(Summary, IsOfOneNumberOfRanks) {
  std::vector<Record> records(2, sample());
  records[1].ranks = 4;
  EXPECT_EQ(summarised(records).size(), 2U);
}

TEST(Machine, SettingsAreNotWhatLaunchersSay) {
  EXPECT_TRUE(is_mpi_setting("OMPI_MCA_pml"));
  EXPECT_TRUE(is_mpi_setting("I_MPI_WAIT_MODE"));
  EXPECT_TRUE(is_mpi_setting("UCX_TLS"));
  EXPECT_TRUE(is_mpi_setting("TUTTI_TRANSPORT"));
  EXPECT_FALSE(is_mpi_setting("OMPI_MCA_orte_app_num"));
  EXPECT_FALSE(is_mpi_setting("I_MPI_INFO_BRAND"));
  EXPECT_FALSE(is_mpi_setting("TUTTI_PEERS"));
  EXPECT_FALSE(is_mpi_setting("TUTTI_BUILD_DIR"));
  EXPECT_FALSE(is_mpi_setting("TUTTI_TRANSPROT"));
  EXPECT_FALSE(is_mpi_setting("HOME"));
  EXPECT_FALSE(is_mpi_setting("MY_UCX_TLS"));
}

}  // namespace
}  // namespace tutti::bench
