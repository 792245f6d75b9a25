// Rules of other libraries: what they choose here is what they choose there.
#include "apps/tutti/import.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "apps/options.hpp"
#include "lib/core/selection/rule_writer.hpp"
#include "lib/core/selection/selection.hpp"

namespace tutti::tool {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string sample(const std::string& name) {
  std::ifstream file{std::string{TUTTI_IMPORT_SAMPLES} + "/" + name};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// What the rules choose; empty: none fits.
std::string chosen(const RuleTable& table, const Question& question) {
  const Rule* const rule = table.first_for(question);
  return rule == nullptr ? "" : to_text(rule->choice);
}
RuleTable table_of(const ForeignFile& foreign) { return RuleTable{translate(foreign, "F").file.rules}; }

Question allreduce_of(int ranks, int nodes, std::int64_t bytes) {
  return {.collective = Collective::allreduce, .ranks = ranks, .nodes = nodes, .bytes = Bytes{bytes}};
}

TEST(Import, ReadsOpenMpisClassicFiles) {
  const Translation translation = translate(read_openmpi_rules(sample("openmpi.conf"), "F"), "F");
  EXPECT_EQ(translation.read, 8U);
  EXPECT_EQ(translation.translated, 5U);
  EXPECT_EQ(translation.refused, 3U);
  EXPECT_THAT(translation.report, Contains(HasSubstr("F:19: broadcast, split_binary_tree: refused: a binary tree")));
  const RuleTable table{translation.file.rules};
  EXPECT_EQ(chosen(table, allreduce_of(2, 1, 1023)), "recursive_doubling") << "the first size is for smaller ones, too";
  EXPECT_EQ(chosen(table, allreduce_of(15, 1, 8191)), "ring/65536");
  EXPECT_EQ(chosen(table, allreduce_of(15, 1, 8192)), "") << "Open MPI chooses";
  EXPECT_EQ(chosen(table, allreduce_of(16, 1, 8192)), "rabenseifner");
  EXPECT_EQ(chosen(table, {.collective = Collective::alltoall, .ranks = 4, .bytes = Bytes{9}}), "linear:12");
}

TEST(Import, RefusesSizesThatAreNone) {
  const Translation translation =
      translate(read_openmpi_rules("1 14 1 2 2  0 1 0 0  64 2 0 0", "F"), "F");  // scan, by the size of an element
  EXPECT_EQ(translation.refused, 2U);
  EXPECT_THAT(translation.report, Contains(HasSubstr("its size is that of an element times the ranks")));
  EXPECT_EQ(translate(read_openmpi_rules("1 14 1 2 1  0 2 0 0", "F"), "F").translated, 1U);
}

/// A table of Open MPI's with numbers at random, as text, and what it says.
class RandomTable {
 public:
  explicit RandomTable(std::mt19937& random) {
    text = fmt::format("1 2 {}\n", sizes);
    for (int i = 0, ranks = 1; i < sizes; ++i) {
      ranks += static_cast<int>(random() % 5);
      Row row{ranks, {}};
      text += fmt::format("{} {}\n", ranks, rules);
      for (std::int64_t j = 0, bytes = 0; j < rules; ++j) {
        row.rules.emplace_back(bytes, algorithms[random() % std::size(algorithms)]);
        text += fmt::format("{} {} 0 0\n", bytes, row.rules.back().second);
        bytes += static_cast<std::int64_t>(random() % 100);
      }
      rows.push_back(row);
    }
  }
  /// The last size that is not larger, or the first of all; then the last number of bytes that is not larger.
  [[nodiscard]] int algorithm(int ranks, std::int64_t bytes) const {
    const Row* row = &rows.front();
    for (const Row& each : rows) {
      if (each.ranks > ranks) break;
      row = &each;
    }
    int found = 0;
    for (const auto& [least, algorithm] : row->rules) {
      if (least > bytes) break;
      found = algorithm;
    }
    return found;
  }

  std::string text{};

 private:
  struct Row {
    int ranks;
    std::vector<std::pair<std::int64_t, int>> rules;
  };
  static constexpr int sizes = 4, rules = 5;
  static constexpr int algorithms[] = {0, 3, 4, 6};
  std::vector<Row> rows{};
};

TEST(Import, ChoosesAsOpenMpisNearestSmallerSizes) {
  std::mt19937 random{1};
  for (int round = 0; round < 200; ++round) {
    const RandomTable given{random};
    const RuleTable table = table_of(read_openmpi_rules(given.text, "F"));
    for (int ranks = 1; ranks < 24; ++ranks)
      for (std::int64_t bytes = 0; bytes < 400; bytes += 7) {
        const int wanted = given.algorithm(ranks, bytes);
        const std::string expected = wanted == 0   ? ""
                                     : wanted == 3 ? "recursive_doubling"
                                     : wanted == 4 ? "ring"
                                                   : "rabenseifner";
        ASSERT_EQ(chosen(table, allreduce_of(ranks, 1, bytes)), expected) << given.text << ranks << " ranks, " << bytes;
      }
  }
}

TEST(Import, KeepsWhatOpenMpisJsonLeavesOut) {
  const RuleTable table = table_of(read_openmpi_json_rules(sample("openmpi.json"), "F"));
  EXPECT_EQ(chosen(table, allreduce_of(4, 1, 1023)), "recursive_doubling");
  EXPECT_EQ(chosen(table, allreduce_of(4, 1, 1024)), "") << "the first set fits, none of its rules does";
  EXPECT_EQ(chosen(table, allreduce_of(4, 1, 65536)), "ring/32768");
  EXPECT_EQ(chosen(table, allreduce_of(4, 2, 1024)), "rabenseifner");
  EXPECT_EQ(chosen(table, allreduce_of(4, 2, 4096)), "ring") << "behind a name that Open MPI does not know either";
  EXPECT_EQ(chosen(table, allreduce_of(4, 2, 1 << 20)), "") << "by a rule that is refused";
  EXPECT_EQ(chosen(table, allreduce_of(17, 2, 4096)), "ring");
  Question question{.collective = Collective::alltoall, .ranks = 4, .nodes = 4, .is_uneven = true};
  EXPECT_EQ(chosen(table, question), "pairwise");
  question.nodes = 2;
  EXPECT_EQ(chosen(table, question), "");
}

TEST(Import, FollowsMpichsTree) {
  const RuleTable table = table_of(read_mpich_rules(sample("mpich.json"), "F"));
  Question question = allreduce_of(6, 1, 512);
  question.manner = records::Manner::blocking;
  EXPECT_EQ(chosen(table, question), "recursive_multiplying:3");
  question.is_commutative = false;
  EXPECT_EQ(chosen(table, question), "recursive_doubling");
  question.is_commutative = true;
  question.bytes = Bytes{4096};
  EXPECT_EQ(chosen(table, question), "ring");
  question.ranks = 8;
  EXPECT_EQ(chosen(table, question), "")
      << "the branch of powers of two has nothing for it, and later ones do not count";
  question.bytes = Bytes{4095};
  EXPECT_EQ(chosen(table, question), "rabenseifner");
  question.manner = records::Manner::nonblocking;
  EXPECT_EQ(chosen(table, question), "");
  Question alltoall{.collective = Collective::alltoall, .ranks = 4, .nodes = 2, .bytes = Bytes{1024}};
  alltoall.manner = records::Manner::nonblocking;
  EXPECT_EQ(chosen(table, alltoall), "") << "by a rule that is refused";
  alltoall.nodes = 1;
  EXPECT_EQ(chosen(table, alltoall), "bruck") << "256 bytes for each rank";
  alltoall.bytes = Bytes{1028};
  EXPECT_EQ(chosen(table, alltoall), "pairwise");
}

TEST(Import, OrdersUccsRulesByScore) {
  const Translation translation = translate(read_ucc_rules(sample("ucc.conf"), "F", "milan"), "F");
  EXPECT_EQ(translation.read, 9U);
  EXPECT_EQ(translation.translated, 5U);
  const RuleTable table{translation.file.rules};
  Question question{.collective = Collective::broadcast, .ranks = 4, .bytes = Bytes{1024}};
  EXPECT_EQ(chosen(table, question), "knomial:4");
  question.bytes = Bytes{1025};
  EXPECT_EQ(chosen(table, question), "two_tree");
  question.memory = AssumedMemory::device;
  question.bytes = Bytes{8};
  EXPECT_EQ(chosen(table, question), "two_tree");
  EXPECT_EQ(chosen(table, allreduce_of(16, 2, 511)), "recursive_multiplying:8");
  EXPECT_EQ(chosen(table, allreduce_of(16, 2, 512)), "recursive_multiplying:2");
  EXPECT_EQ(chosen(table, allreduce_of(16, 2, 4096)), "rabenseifner") << "a border belongs to the rule behind it";
  EXPECT_EQ(chosen(table, allreduce_of(16, 4, 4096)), "") << "other nodes than those of the section";
  EXPECT_EQ(chosen(table, allreduce_of(4, 1, 8)), "") << "the section of another processor";
}

TEST(Import, TakesTheFirstOfNcclsRules) {
  const Translation translation = translate(read_nccl_rules(sample("nccl.csv"), "F"), "F");
  EXPECT_EQ(translation.translated, 2U);
  EXPECT_EQ(translation.refused, 4U);
  const RuleTable table{translation.file.rules};
  Question question = allreduce_of(8, 1, 65536);
  EXPECT_EQ(chosen(table, question), "") << "buffers of the host";
  question.memory = AssumedMemory::device;
  EXPECT_EQ(chosen(table, question), "") << "NVLS, which is refused";
  question.nodes = 2;
  EXPECT_EQ(chosen(table, question), "two_tree");
  question.bytes = Bytes{1048577};
  EXPECT_EQ(chosen(table, question), "ring");
}

TEST(Import, RefusesARuleWhoseCallsAreAllThoseOfRefusedOnes) {
  const Translation translation =
      translate(read_nccl_rules("allreduce,0,-1,nvls,ll,1,-1,-1\nallreduce,0,9,ring,ll,1,-1,-1", "F"), "F");
  EXPECT_EQ(translation.refused, 2U);
  EXPECT_TRUE(translation.file.rules.empty());
  EXPECT_THAT(translation.report, Contains(HasSubstr("F:2: allreduce, ring: refused: all of its calls")));
}

TEST(Import, TakesBytesPerRankOfNcclx) {
  const RuleTable table = table_of(read_ncclx_json_rules(sample("ncclx.json"), "F"));
  Question question = allreduce_of(8, 2, 16 << 20);
  question.memory = AssumedMemory::device;
  EXPECT_EQ(chosen(table, question), "two_tree");
  question.bytes = Bytes{(16 << 20) + 8};
  EXPECT_EQ(chosen(table, question), "ring");
}

/// Conditions at random, on small numbers.
Conditions random_conditions(std::mt19937& random) {
  Conditions when;
  const auto range = [&]() -> Range {
    if (random() % 3 == 0) return {};
    const auto least = static_cast<std::int64_t>(random() % 4);
    return {least, random() % 3 == 0 ? Range::no_end : least + static_cast<std::int64_t>(random() % 4)};
  };
  when.ranks = range();
  when.nodes = range();
  when.bytes = range();
  const auto fact = [&]() -> std::optional<bool> {
    if (random() % 2 == 0) return std::nullopt;
    return random() % 2 == 0;
  };
  when.commutative = fact();
  when.power_of_two = fact();
  if (random() % 3 == 0) when.memory = static_cast<AssumedMemory>(random() % 3);
  if (random() % 3 == 0) when.mode = static_cast<records::Manner>(random() % 4);
  return when;
}

TEST(Import, CutsHolesExactly) {
  std::mt19937 random{2};
  for (int round = 0; round < 2000; ++round) {
    const Conditions from = random_conditions(random), hole = random_conditions(random);
    const std::vector<Conditions> pieces = without(from, hole);
    for (int call = 0; call < 60; ++call) {
      Question question = allreduce_of(1 + static_cast<int>(random() % 7), 1, static_cast<std::int64_t>(random() % 8));
      question.nodes = 1 + static_cast<int>(random() % static_cast<unsigned>(question.ranks));
      question.is_commutative = random() % 2 == 0;
      question.memory = static_cast<AssumedMemory>(random() % 3);
      question.manner = static_cast<records::Manner>(random() % 4);
      const auto holding =
          std::ranges::count_if(pieces, [&](const Conditions& piece) { return piece.hold_for(question); });
      ASSERT_EQ(holding, from.hold_for(question) && !hole.hold_for(question) ? 1 : 0) << "round " << round;
    }
  }
}

struct Wrong {
  const char *form, *text, *told;
};
class WrongForeignRules : public testing::TestWithParam<Wrong> {};

TEST_P(WrongForeignRules, AreRefusedWithTheirPlace) {
  const auto& [form, text, told] = GetParam();
  std::string said;
  try {
    const std::string_view name{form};
    if (name == "ompi") static_cast<void>(read_openmpi_rules(text, "F"));
    if (name == "ompi-json") static_cast<void>(read_openmpi_json_rules(text, "F"));
    if (name == "mpich") static_cast<void>(read_mpich_rules(text, "F"));
    if (name == "ucc") static_cast<void>(read_ucc_rules(text, "F", ""));
    if (name == "nccl") static_cast<void>(read_nccl_rules(text, "F"));
    if (name == "ncclx") static_cast<void>(read_ncclx_json_rules(text, "F"));
  } catch (const apps::InputError& error) {
    said = error.what();
  }
  EXPECT_THAT(said, HasSubstr(told));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongForeignRules,
    testing::Values(
        Wrong{"ompi", "", "F:1: the file ends before number of collectives"},
        Wrong{"ompi", "1\n2 1\n4 1\n8 3 0 0", "F:4: the first rule is not for 0 bytes"},
        Wrong{"ompi", "1\n99 1", "F:2: no collective has this number"},
        Wrong{"ompi", "0\n\n7", "F:3: more than the rules that were counted"},
        Wrong{"ompi", "1 2 1 4 1 0 ring 0 0", "F:1: 'ring' is no algorithm"},
        Wrong{"ompi", "rule-file-version-3 0", "F:1: '3' is no version; allowed: 0 to 2"},
        Wrong{"ompi", "1 2 1 4 9999999999", "F:1: '9999999999' is no number of rules; allowed: 0 to 4096"},
        Wrong{"ompi-json", "{", "F:1:2: no JSON"}, Wrong{"ompi-json", "[]", "F:1:1: a value is an array"},
        Wrong{"ompi-json", R"({"module": "han"})", "F:1:12: 'module' is 'han'; allowed: tuned"},
        Wrong{"ompi-json", R"({"module": "tuned", "collectives": {"allred": []}})", "'allred' is no collective"},
        Wrong{"ompi-json", R"({"module": "tuned", "collectives": {"bcast": [{"rules": [{}]}]}})", "no key 'alg'"},
        Wrong{"mpich", "[]", "F:1:1: the file is an array"},
        Wrong{"mpich", R"({"collective=bcast": {"comm_size<x": {}}})", "F:1:23: 'x' is no number"},
        Wrong{"mpich", R"({"collective=bcast": 1})", "F:1:22: a condition is a whole number"},
        Wrong{"ucc", "allreduce:0-4k:knomial", "F:1: 'knomial' is no part of a rule of UCC"},
        Wrong{"ucc", "\n[model=x team_size=y]", "F:2: 'team_size=y' is no condition of a section"},
        Wrong{"ucc", "UCC_TL_UCP_BCAST_KN_RADIX=0-x:host:2", "F:1: '0-x:host:2' is no radix"},
        Wrong{"nccl", "\nallreduce,0", "F:2: 2 fields; allowed: 8 to 10"},
        Wrong{"nccl", "allreduce,a,b,ring,ll,1,1,1", "F:1: 'a,b' are no sizes"},
        Wrong{"ncclx", R"({"rules": [{"filter": {"collective": "AllReduce", "nNodes": "[3,1]"}, "config": {}}]})",
              "F:1:12: '[3,1]' is no range of nodes"}));

TEST(Import, IsBounded) {
  std::string text;
  for (int i = 0; i < 5000; ++i)
    text += "allreduce,0,-1,ring,ll,1,1,1\n";
  EXPECT_THROW(static_cast<void>(read_nccl_rules(text, "F")), apps::InputError);
  // Holes that cut every rule behind them into ever more pieces.
  text.clear();
  for (int i = 0; i < 1500; ++i)
    text += fmt::format("allreduce,{},{},nvls,ll,1,{},{}\n", 10 * i, 10 * i + 5, 2 * i + 1, 2 * i + 1);
  for (int i = 0; i < 50; ++i)
    text += "allreduce,0,-1,ring,ll,1,-1,-1\n";
  EXPECT_THROW(static_cast<void>(translate(read_nccl_rules(text, "F"), "F")), apps::InputError);
}

}  // namespace
}  // namespace tutti::tool
