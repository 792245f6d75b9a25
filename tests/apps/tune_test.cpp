// Parts of tutti tune that need no ranks: rules from times, guidelines, candidates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/tune/candidates.hpp"
#include "apps/tune/guidelines.hpp"
#include "apps/tune/race.hpp"
#include "apps/tune/rule_making.hpp"
#include "lib/core/selection/selection.hpp"

namespace tutti::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Timed timed(const std::string& use, double us, double half = 0.01) {
  return {.use = use, .us = us, .lower = us * (1 - half), .upper = us * (1 + half), .fastest = us * 0.9, .runs = 40};
}

Point point(std::int64_t bytes, const std::vector<Timed>& ways) {
  Point made{.bytes = bytes, .builtin = ways.front().use, .ways = ways};
  made.use = winner(made);
  return made;
}

TEST(Winner, IsAnotherOneOnlyIfItIsClearlyFaster) {
  EXPECT_EQ(point(8, {timed("ring", 10), timed("swing", 9)}).use, "swing");
  EXPECT_EQ(point(8, {timed("ring", 10), timed("swing", 9.6)}).use, "ring");          // less than 5 %
  EXPECT_EQ(point(8, {timed("ring", 10, 0.2), timed("swing", 9, 0.2)}).use, "ring");  // middle halves overlap
  EXPECT_EQ(point(8, {timed("ring", 10), timed("swing", 9), timed("mpi", 1)}).use,
            "swing");  // the MPI's is no algorithm
  Timed given_up = timed("swing", 5);
  given_up.runs = 3;  // was not measured as long as the others
  EXPECT_EQ(point(8, {timed("ring", 10), given_up}).use, "ring");
}

TEST(Winner, HasToWinLaterRacesToo) {
  const Point first = point(8, {timed("ring", 10), timed("swing", 8), timed("mpi", 20)});
  const auto later = [&](double ring, double swing) {
    Point again = first;
    add_later(again, {timed("ring", ring), timed("swing", swing)});
    return again;
  };
  EXPECT_EQ(later(10, 9).use, "swing");
  EXPECT_NEAR(later(10, 9).find("swing")->us, 8.485, 0.001);
  EXPECT_EQ(later(10, 9).find("swing")->runs, 80);
  EXPECT_EQ(later(10, 9).find("mpi")->runs, 40);
  EXPECT_EQ(later(10, 9.99).use, "swing") << "by 12 % over both races";
  EXPECT_EQ(later(10, 10.1).use, "ring") << "slower in one of them";
  const Point narrow = point(8, {timed("ring", 10), timed("swing", 9.4)});
  Point again = narrow;
  add_later(again, {timed("ring", 10), timed("swing", 9.9)});
  EXPECT_EQ(again.use, "ring") << "by less than 5 % over both";
}

Question question(Collective collective = Collective::allreduce) {
  return {.collective = collective, .ranks = 4, .shares_memory = true, .manner = records::Manner::blocking};
}

std::string choice_at(const std::vector<Rule>& rules, Question asked, std::int64_t bytes) {
  asked.bytes = Bytes{bytes};
  const RuleTable table{rules};
  const Rule* const rule = table.first_for(asked);
  return rule == nullptr ? "built in" : to_text(rule->choice);
}

TEST(Rules, ChangeBetweenSizesAndEndBeyondTheLargest) {
  const std::vector<Point> points{point(1024, {timed("recursive_doubling", 4), timed("swing", 2)}),
                                  point(4096, {timed("recursive_doubling", 8), timed("ring", 4)})};
  const std::vector<Rule> rules = rules_of(question(), points, {.most = 4096});
  EXPECT_EQ(choice_at(rules, question(), 0), "swing");
  EXPECT_EQ(choice_at(rules, question(), 2048), "swing");
  EXPECT_EQ(choice_at(rules, question(), 2049), "ring");
  EXPECT_EQ(choice_at(rules, question(), 8192), "ring");
  EXPECT_EQ(choice_at(rules, question(), 8193), "built in");
}

TEST(Rules, NameWhatIsBuiltInWhereItStays) {
  // one_shot up to 4 KiB, recursive_doubling up to 8 KiB, two_shot/256K for more.
  const std::vector<Point> points{point(64, {timed("one_shot", 1), timed("mpi", 2)}),
                                  point(6000, {timed("recursive_doubling", 5), timed("mpi", 8)}),
                                  point(65536, {timed("two_shot/262144", 20), timed("ring", 10), timed("mpi", 30)})};
  const std::vector<Rule> rules = rules_of(question(), points, {.most = 65536});
  ASSERT_EQ(rules.size(), 3U);
  EXPECT_EQ(rules[0].when.bytes, (Range{0, 4096}));
  EXPECT_EQ(to_text(rules[0].choice), "one_shot");
  EXPECT_EQ(rules[0].measured.us, 1);
  EXPECT_EQ(rules[0].measured.default_us, 1);
  EXPECT_EQ(rules[0].measured.mpi_us, 2);
  EXPECT_EQ(to_text(rules[1].choice), "recursive_doubling");
  EXPECT_EQ(rules[1].when.bytes.least, 4097);
  EXPECT_EQ(to_text(rules[2].choice), "ring");
  EXPECT_EQ(rules[2].measured.default_us, 20);
  EXPECT_EQ(rules[2].measured.us, 10);
}

TEST(Rules, PartWhereTheMpiBecomesFaster) {
  const std::vector<Point> points{point(64, {timed("one_shot", 1), timed("mpi", 2)}),
                                  point(1024, {timed("one_shot", 3), timed("mpi", 2)})};
  const std::vector<Rule> rules = rules_of(question(), points, {.most = 1024});
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(rules[0].when.bytes, (Range{0, 256}));
  EXPECT_LT(rules[0].measured.us, rules[0].measured.mpi_us);
  EXPECT_GT(rules[1].measured.us, rules[1].measured.mpi_us);
}

TEST(Rules, HoldForNumbersOfRanksNearby) {
  const std::vector<Point> points{point(64, {timed("one_shot", 1), timed("ring", 0.5)})};
  const auto ranks_of = [&](int ranks, bool is_exact) {
    Question asked = question();
    asked.ranks = ranks;
    return rules_of(asked, points, {.is_exact = is_exact, .most = 64}).front().when.ranks;
  };
  // Powers of two cover every number once.
  EXPECT_EQ(ranks_of(2, false), (Range{2, 2}));
  EXPECT_EQ(ranks_of(4, false), (Range{3, 5}));
  EXPECT_EQ(ranks_of(8, false), (Range{6, 11}));
  EXPECT_EQ(ranks_of(16, false), (Range{12, 23}));
  EXPECT_EQ(ranks_of(8, true), (Range{8, 8}));
  // What stays as it is built in is so for the measured number alone: others may have another choice built in.
  const std::vector<Point> kept{point(64, {timed("one_shot", 1), timed("ring", 1)})};
  EXPECT_EQ(rules_of(question(), kept, {.most = 64}).front().when.ranks, (Range{4, 4}));
}

TEST(Rules, NameTheirModeOnlyIfSeveralWereMeasured) {
  const std::vector<Point> points{point(64, {timed("one_shot", 1)})};
  EXPECT_FALSE(rules_of(question(), points, {.most = 64}).front().when.mode);
  EXPECT_EQ(rules_of(question(), points, {.has_modes = true, .most = 64}).front().when.mode, records::Manner::blocking);
}

TEST(Rules, AreOneForAllSizesWhereRanksKnowTheirOwnBlocksAlone) {
  Question asked = question(Collective::gather);
  asked.is_uneven = true;
  const std::vector<Point> points{point(64, {timed("linear", 10), timed("binomial", 5)}),
                                  point(1024, {timed("linear", 10), timed("binomial", 8)})};
  const std::vector<Rule> rules = rules_of(asked, points, {.most = 1024});
  ASSERT_EQ(rules.size(), 1U);
  EXPECT_TRUE(rules[0].when.bytes.is_open());
  EXPECT_EQ(to_text(rules[0].choice), "binomial");
  EXPECT_EQ(rules[0].when.uneven, true);
  const std::vector<Point> mixed{point(64, {timed("linear", 10), timed("binomial", 5)}),
                                 point(1024, {timed("linear", 10), timed("binomial", 30)})};
  EXPECT_EQ(to_text(rules_of(asked, mixed, {.most = 1024}).front().choice), "linear");
}

TEST(Guidelines, FindWhatTakesLongerThanItShould) {
  Points points;
  points["world/allreduce/host/blocking"] = {point(8, {timed("ring", 10)}), point(64, {timed("ring", 5)})};
  points["world/reduce/host/blocking"] = {point(8, {timed("knomial", 3)})};
  points["world/broadcast/host/blocking"] = {point(8, {timed("knomial", 2)})};
  EXPECT_THAT(
      violations(points),
      ElementsAre(HasSubstr("allreduce/host/blocking of 8 bytes takes 2.00 times as long as reduce and broadcast"),
                  HasSubstr("of 8 bytes takes 2.00 times as long as of 64 bytes")));
  points["world/allreduce/host/blocking"] = {point(8, {timed("ring", 5)}), point(64, {timed("ring", 5)})};
  EXPECT_THAT(violations(points), IsEmpty());
  // Where rounds differ by more, it may be chance.
  points["world/allreduce/host/blocking"] = {point(8, {timed("ring", 10, 0.5)}), point(64, {timed("ring", 6, 0.5)})};
  EXPECT_THAT(violations(points), IsEmpty());
}

std::vector<std::string> candidates_at(const Question& asked, const Prices& prices) {
  const Problem problem{.size = asked.ranks, .count = Count{asked.bytes.value() / 4}, .collective = asked.collective};
  std::vector<std::string> uses;
  for (const Choice& choice : candidates_for(asked, problem, Bytes{4}, select(asked, {}, nullptr).choice, prices))
    uses.push_back(to_text(choice));
  return uses;
}

TEST(Candidates, BeginWithTheBuiltInChoiceAndHaveAtLeastFourOthers) {
  for (int collective = 1; collective < collective_count; ++collective) {
    Question asked = question(static_cast<Collective>(collective));
    asked.ranks = 8;
    for (const std::int64_t bytes : {8L, 64 * 1024L, 8 * 1024 * 1024L}) {
      asked.bytes = Bytes{bytes};
      const std::vector<std::string> uses = candidates_at(asked, {});
      EXPECT_EQ(uses.front(), to_text(select(asked, {}, nullptr).choice));
      EXPECT_GE(uses.size(), 2U) << collective;
      std::vector<std::string> sorted = uses;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
    }
  }
}

TEST(Candidates, AreThoseOfALowPrice) {
  Question asked = question();
  asked.ranks = 64;
  asked.bytes = Bytes{8};
  const std::vector<std::string> small = candidates_at(asked, {.message = 1, .sent_byte = 1e-5, .reduced_byte = 1e-5});
  EXPECT_THAT(small, testing::Not(testing::Contains("ring")));  // 126 rounds
  EXPECT_THAT(small, testing::Contains("recursive_doubling"));
  asked.bytes = Bytes{64 << 20};
  const std::vector<std::string> large = candidates_at(asked, {.message = 1, .sent_byte = 1e-3, .reduced_byte = 1e-4});
  EXPECT_THAT(large, testing::Contains("ring"));
  EXPECT_THAT(large, testing::Not(testing::Contains("one_shot")));  // 63 times the volume
}

TEST(Candidates, OfSeveralLevelsAreForSeveralNodes) {
  Question asked = question();
  asked.bytes = Bytes{1024};
  EXPECT_THAT(candidates_at(asked, {}), testing::Not(testing::Contains(HasSubstr("two_level"))));
}

}  // namespace
}  // namespace tutti::tune
