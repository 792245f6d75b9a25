// Which rule is taken for a call.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "lib/core/selection/rule_file.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti {
namespace {

SiteRules site_of(const std::string& rules) {
  return SiteRules{read_rule_file("{\"tutti_rules\": 1, \"rules\": [" + rules + "]}", "F")};
}

Question question(std::int64_t bytes) {
  return {.collective = Collective::allreduce, .ranks = 4, .bytes = Bytes{bytes}, .shares_memory = true};
}

std::string chosen(const Question& asked, const SiteRules& site) {
  return to_text(select(asked, {}, &site.table).choice);
}

TEST(RuleTable, TakesTheFirstRuleThatFits) {
  const SiteRules site = site_of(R"({"collective": "allreduce", "bytes": [10, 20], "use": "ring"},
    {"collective": "allreduce", "bytes": [0, 30], "use": "swing"}, {"collective": "reduce", "use": "chain"})");
  EXPECT_EQ(chosen(question(9), site), "swing");
  EXPECT_EQ(chosen(question(10), site), "ring");
  EXPECT_EQ(chosen(question(20), site), "ring");
  EXPECT_EQ(chosen(question(30), site), "swing");
  EXPECT_EQ(chosen(question(31), site), "one_shot");  // the built-in rules complete those of the site
}

TEST(RuleTable, PassesOverARuleWhoseAlgorithmDoesNotServe) {
  const SiteRules site = site_of(R"({"collective": "allreduce", "use": "ring"},
    {"collective": "allreduce", "use": "rabenseifner"})");
  Question asked = question(8);
  EXPECT_EQ(chosen(asked, site), "ring");
  asked.is_commutative = false;
  EXPECT_EQ(chosen(asked, site), "rabenseifner");
}

TEST(RuleTable, PassesOverARuleWithTooManySegments) {
  const SiteRules site = site_of(R"({"collective": "allreduce", "use": "ring/8"})");
  EXPECT_EQ(chosen(question(8 << 18), site), "ring/8");
  EXPECT_NE(chosen(question((8 << 18) + 1), site), "ring/8");
}

TEST(RuleTable, MindsEveryCondition) {
  const auto expect_only = [](const std::string& condition, const auto& change) {
    const SiteRules site = site_of("{\"collective\": \"allreduce\", " + condition + ", \"use\": \"swing\"}");
    Question asked = question(1000);
    EXPECT_NE(chosen(asked, site), "swing") << condition;
    change(asked);
    EXPECT_EQ(chosen(asked, site), "swing") << condition;
  };
  expect_only(R"("ranks": 5)", [](Question& q) { q.ranks = 5; });
  expect_only(R"("nodes": 2)", [](Question& q) { q.nodes = 2; });
  expect_only(R"("ppn": 3)", [](Question& q) { q.most_on_a_node = 3; });
  expect_only(R"("bytes_per_rank": [251, 252])", [](Question& q) { q.bytes = Bytes{1005}; });
  expect_only(R"("bytes_per_node": 500)", [](Question& q) { q.nodes = 2; });
  expect_only(R"("memory": "tutti")", [](Question& q) { q.memory = AssumedMemory::tutti; });
  expect_only(R"("mode": "stream")", [](Question& q) { q.manner = records::Manner::in_stream; });
  expect_only(R"("uneven": true)", [](Question& q) { q.is_uneven = true; });
  expect_only(R"("shares_memory": false)", [](Question& q) { q.shares_memory = false; });
  expect_only(R"("shares_processors": true)", [](Question& q) { q.shares_processors = true; });
  expect_only(R"("maps_devices": true)", [](Question& q) { q.maps_devices = true; });
  expect_only(R"("power_of_two": false)", [](Question& q) { q.ranks = 6; });
  static constexpr std::array<int, 4> in_turn{0, 1, 0, 1};
  expect_only(R"("consecutive": false)", [](Question& q) { q.spread = in_turn; });
}

TEST(RuleTable, MindsWhetherTheOperationCommutes) {
  const SiteRules site = site_of(R"({"collective": "allreduce", "commutative": false, "use": "two_tree"})");
  Question asked = question(1000);
  EXPECT_NE(chosen(asked, site), "two_tree");
  asked.is_commutative = false;
  EXPECT_EQ(chosen(asked, site), "two_tree");
}

TEST(RuleTable, WithBytesIsNotForCallsWhoseBytesNobodyKnows) {
  const SiteRules site = site_of(R"({"collective": "gather", "bytes": [0, 100], "use": "binomial"},
    {"collective": "gather", "uneven": true, "use": "segmented/8"})");
  Question asked{.collective = Collective::gather, .ranks = 4, .bytes = Bytes{-1}, .is_uneven = true};
  EXPECT_EQ(chosen(asked, site), "segmented/8");
  asked.bytes = Bytes{100};
  EXPECT_EQ(chosen(asked, site), "binomial");
}

TEST(RuleTable, IsPassedOverForAChoiceOfTheUser) {
  const SiteRules site = site_of(R"({"collective": "allreduce", "use": "ring"})");
  UserChoices users{.choices = read_choices("swing", "test"), .chosen_by = {}};
  users.chosen_by.fill("test");
  const Selection selection = select(question(8), users, &site.table);
  EXPECT_EQ(to_text(selection.choice), "swing");
  EXPECT_EQ(selection.rule, nullptr);
}

TEST(RuleTable, OfTheSiteTellsItsLineAndFigures) {
  const SiteRules site = site_of(R"({"collective": "allreduce", "use": "ring",
    "measured": {"us": 10, "default_us": 13.1, "next": "swing", "next_us": 10.8}})");
  EXPECT_EQ(select(question(8), {}, &site.table).why,
            "by line 1 of F (measured: 1.31 times as fast as the default, 1.08 times as fast as swing)");
}

/// The built-in rules have the same form: as a file of a site, they choose alike.
TEST(RuleTable, BuiltInIsAFileOfRules) {
  const SiteRules site{read_rule_file(builtin_text(), "builtin.json")};
  EXPECT_TRUE(site.file.warnings.empty()) << site.file.warnings.front().line << site.file.warnings.front().text;
  for (int collective = 0; collective < collective_count; ++collective)
    for (const int ranks : {1, 2, 3, 4, 8, 16, 17, 64})
      for (const bool shares : {false, true})
        for (std::int64_t bytes = 0; bytes < std::int64_t{1} << 33; bytes = bytes * 2 + 1) {
          const Question asked{.collective = static_cast<Collective>(collective),
                               .ranks = ranks,
                               .bytes = Bytes{bytes},
                               .shares_memory = shares};
          const Selection selection = select(asked, {}, &site.table);
          EXPECT_EQ(to_text(selection.choice), to_text(select(asked, {}, nullptr).choice));
          EXPECT_TRUE(selection.is_users);
        }
}

}  // namespace
}  // namespace tutti
