// What tutti-bench concludes from its records: the best algorithms, slow links.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "apps/bench/best.hpp"
#include "apps/bench/fit.hpp"
#include "apps/bench/pairs.hpp"
#include "apps/options.hpp"

namespace tutti::bench {
namespace {

using testing::HasSubstr;

Record record(std::string algorithm, std::int64_t bytes, double time, bool is_chosen = false) {
  Record made;
  made.collective = "reduce";
  made.algorithm = std::move(algorithm);
  made.ranks = 4;
  made.bytes = made.count = bytes;
  made.is_chosen = is_chosen;
  made.rounds_us.assign(5, time);
  made.time_us = spread_of(made.rounds_us);
  return made;
}

TEST(Best, IsTheShortestAtEachSizeWithItsLead) {
  const std::vector<Record> records{record("a", 8, 2), record("b", 8, 1), record("c", 8, 4, true),
                                    record("a", 64, 3, true), record("b", 64, 6)};
  const std::vector<Best> best = best_of(records);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].algorithm, "b");
  EXPECT_EQ(best[0].next, "a");
  EXPECT_DOUBLE_EQ(best[0].lead.value, 2);
  EXPECT_TRUE(best[0].lead.is_resolved());
  EXPECT_EQ(best[0].chosen, "c");
  EXPECT_DOUBLE_EQ(best[0].chosen_ratio->value, 4);
  EXPECT_EQ(best[1].algorithm, "a");
  EXPECT_DOUBLE_EQ(best[1].chosen_ratio->value, 1);
  EXPECT_TRUE(best[1].chosen_ratio->is_resolved());
  const std::string text = to_text(best);
  EXPECT_THAT(text, HasSubstr("# reduce         4           8 out   b            1.000   2.00  a           4.00  c\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("not resolved")));
}

TEST(Best, IsNoneOfOneAlgorithmUnderTwoNames) {
  EXPECT_TRUE(best_of(std::vector{record("a", 8, 2)}).empty());
  EXPECT_TRUE(best_of(std::vector{record("a", 8, 2), record("a", 8, 1, true)}).empty());
  EXPECT_EQ(to_text(std::vector<Best>{}), "");
}

TEST(Best, IsMarkedWhereTheLeadIsNotResolved) {
  std::vector<Record> records{record("a", 8, 1), record("b", 8, 1)};
  records[1].rounds_us = {0.9, 0.9, 1.01, 1.2, 1.2};
  records[1].time_us = spread_of(records[1].rounds_us);
  EXPECT_THAT(to_text(best_of(records)), HasSubstr(" 1.01? b "));
  EXPECT_THAT(to_text(best_of(records)), HasSubstr("# ?: not resolved, 1 of 1 ratios."));
}

/// Ranks on nodes; all links inside nodes have the figures 1, all between nodes 10.
Pairs pairs_on(std::vector<int> nodes) {
  Pairs pairs{.nodes = std::move(nodes), .short_bytes = 8, .long_bytes = 1024, .rounds = 5};
  for (LinkMatrix& matrix : pairs.figures) {
    matrix.median.resize(pairs.nodes.size() * pairs.nodes.size());
    for (int from = 0; from < pairs.ranks(); ++from)
      for (int to = 0; to < pairs.ranks(); ++to)
        if (from != to) matrix.median[pairs.at(from, to)] = pairs.is_between_nodes(from, to) ? 10 : 1;
    matrix.best = matrix.median;
  }
  return pairs;
}

void set(Pairs& pairs, LinkFigure figure, int from, int to, double median, double best) {
  LinkMatrix& matrix = pairs.figures[static_cast<std::size_t>(figure)];
  matrix.median[pairs.at(from, to)] = median;
  matrix.best[pairs.at(from, to)] = best;
}

TEST(SlowLinks, AreComparedWithTheirKind) {
  Pairs pairs = pairs_on({0, 0, 0, 1, 1, 1});
  EXPECT_TRUE(slow_links(pairs).empty()) << "ten times as much between nodes is usual";
  set(pairs, LinkFigure::latency, 0, 2, 1.7, 1.6);
  set(pairs, LinkFigure::bandwidth, 4, 1, 5, 6);
  const std::vector<SlowLink> slow = slow_links(pairs);
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_TRUE(slow[0].figure == LinkFigure::latency && slow[0].from == 0 && slow[0].to == 2);
  EXPECT_FALSE(slow[0].is_between_nodes);
  EXPECT_TRUE(slow[1].figure == LinkFigure::bandwidth && slow[1].from == 4 && slow[1].to == 1);
  EXPECT_DOUBLE_EQ(slow[1].usual, 10);
  const std::string text = to_text(pairs);
  EXPECT_THAT(text, HasSubstr(" 1.700!"));
  EXPECT_THAT(text,
              HasSubstr("# ! bandwidth from rank 4 to rank 1: 5.000 GB/s, 2.0 times worse than the median between"));
  EXPECT_THAT(text, HasSubstr("# slow links: 2\n"));
}

TEST(SlowLinks, AreThoseWhoseBestRoundsAreSlow) {
  Pairs pairs = pairs_on({0, 0, 0});
  set(pairs, LinkFigure::latency, 0, 2, 9, 1.2);
  EXPECT_TRUE(slow_links(pairs).empty()) << "a quarter of the rounds was as quick as the others";
}

TEST(SlowLinks, NeedOthersToCompareWith) {
  Pairs pairs = pairs_on({0, 0});
  set(pairs, LinkFigure::latency, 0, 1, 9, 9);
  EXPECT_TRUE(slow_links(pairs).empty());
}

TEST(Pairs, AreWrittenByRank) {
  Pairs pairs = pairs_on({0, 0, 1});
  set(pairs, LinkFigure::rate, 1, 2, 3, 2);
  Machine machine;
  machine.hosts = {"a"};
  const auto written = nlohmann::json::parse(json_text(machine, pairs))["pairs"];
  EXPECT_EQ(written["nodes"], nlohmann::json({0, 0, 1}));
  EXPECT_EQ(written["figures"]["rate"]["median"][1][2], 3.0);
  EXPECT_TRUE(written["figures"]["rate"]["median"][1][1].is_null());
  EXPECT_EQ(written["figures"]["latency"]["usual_between_nodes"], 10.0);
}

/// Two ranks on each of two nodes: 0.9 us and 10 GB/s inside, 3 us and 5 GB/s between, 2 million messages a second.
Pairs pairs_to_fit() {
  Pairs pairs = pairs_on({0, 0, 1, 1});
  for (int from = 0; from < pairs.ranks(); ++from) {
    for (int to = 0; to < pairs.ranks(); ++to) {
      const bool between = pairs.is_between_nodes(from, to);
      if (from == to) continue;
      set(pairs, LinkFigure::latency, from, to, between ? 3 : 0.9, between ? 3 : 0.9);
      set(pairs, LinkFigure::bandwidth, from, to, between ? 5 : 10, between ? 5 : 10);
      set(pairs, LinkFigure::rate, from, to, 2, 2);
    }
  }
  return pairs;
}

TEST(Fit, LeavesALatencyAtEveryLevel) {
  const auto rates = nlohmann::json::parse(rates_text({}, pairs_to_fit()));
  EXPECT_EQ(rates["made"]["resolved"], true);
  EXPECT_NEAR(rates["overhead"].get<double>(), 0.3, 1e-6) << "a third of 0.9, which is less than half a microsecond";
  EXPECT_NEAR(rates["socket"]["latency"].get<double>(), 0.3, 1e-6);
  EXPECT_EQ(rates["node"]["bandwidth"], 10.0);
  EXPECT_NEAR(rates["link"]["latency"].get<double>(), 1.2, 1e-6) << "two links: 3 us less two overheads";
  EXPECT_EQ(rates["link"]["bandwidth"], 5.0);
}

TEST(Fit, TakesTheQuickQuarterAndSaysThatRoundsAreApart) {
  Pairs pairs = pairs_to_fit();
  struct Disturbed {
    int from, to;
    double best;
  };
  for (const auto& [from, to, best] : {Disturbed{0, 2, 600}, Disturbed{1, 2, 600}, Disturbed{0, 3, 3}}) {
    set(pairs, LinkFigure::latency, from, to, 2700, best);
    set(pairs, LinkFigure::latency, to, from, 2700, best);
  }
  testing::internal::CaptureStderr();
  const auto rates = nlohmann::json::parse(rates_text({}, pairs));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("not resolved: the median latency between nodes is 2.7e+03 us, the quick quarter 3\n"));
  EXPECT_NEAR(rates["link"]["latency"].get<double>(), 1.2, 1e-6);
  EXPECT_EQ(rates["made"]["resolved"], false);
  EXPECT_EQ(rates["made"]["doubts"].size(), 1U);
}

TEST(Fit, NeedsTwoRanks) { EXPECT_THROW(static_cast<void>(rates_text({}, pairs_on({0}))), apps::InputError); }

}  // namespace
}  // namespace tutti::bench
