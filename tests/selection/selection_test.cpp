// Which algorithm is chosen: on several nodes on both sides of every border of the table, and where ranks share
// processors.
#include "lib/core/selection/selection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

namespace tutti {
namespace {

constexpr std::array<int, 8> four_by_two{0, 0, 2, 2, 4, 4, 6, 6};

Question on_four_nodes(Collective collective, std::int64_t bytes) {
  return {.collective = collective, .ranks = 8, .nodes = 4, .bytes = Bytes{bytes}, .spread = four_by_two};
}
void expect_chosen(const Question& question, const std::string& wanted) {
  EXPECT_EQ(to_text(select(question, {}, nullptr).choice), to_text(read_choice(question.collective, wanted)))
      << to_string(question.collective) << " of " << question.bytes.value() << " bytes";
}

struct Border {
  Collective collective;
  std::int64_t last;  ///< The most bytes for which `below` is chosen.
  std::string below, above;
};
void PrintTo(const Border& border, std::ostream* out) { *out << border.below << ", " << border.above; }

class SelectionOnNodes : public testing::TestWithParam<Border> {};

TEST_P(SelectionOnNodes, ChangesAtTheBorder) {
  const auto& [collective, last, below, above] = GetParam();
  expect_chosen(on_four_nodes(collective, last), below);
  expect_chosen(on_four_nodes(collective, last + 1), above);
}

constexpr std::int64_t kib = 1024, mib = 1024 * kib;
INSTANTIATE_TEST_SUITE_P(
    Table, SelectionOnNodes,
    testing::Values(Border{Collective::broadcast, 768 * kib - 1, "two_level:4/48K", "two_level:1/48K"},
                    Border{Collective::broadcast, 256 * mib, "two_level:1/48K", "two_level:1/1M"},
                    Border{Collective::reduce, 64 * kib, "two_level:4/48K", "lanes/48K"},
                    Border{Collective::reduce, 256 * mib, "lanes/48K", "lanes/1M"},
                    Border{Collective::allreduce, 256 * kib, "two_level/48K", "lanes/48K"},
                    Border{Collective::allreduce, 2 * mib - 1, "lanes/48K", "lane_rings/60K"},
                    Border{Collective::allreduce, 256 * mib, "lane_rings/60K", "lane_rings/1M"},
                    Border{Collective::reduce_scatter, 64 * kib, "two_level/48K", "lanes/48K"},
                    Border{Collective::allgather, 64 * kib, "two_level/48K", "lanes/48K"},
                    Border{Collective::gather, 32 * kib, "two_level", "linear"},
                    Border{Collective::scatter, 32 * kib, "two_level", "linear"}),
    [](const auto& info) { return std::string{to_string(info.param.collective)} + std::to_string(info.param.last); });

TEST(SelectionOnNodes, OfAllreduceMindsHowManyNodes) {
  const std::vector<int> eight_by_two{0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14};
  Question question = on_four_nodes(Collective::allreduce, 128 * kib);
  question.ranks = 16;
  question.nodes = 8;
  question.spread = eight_by_two;
  expect_chosen(question, "lanes/48K");
}

TEST(SelectionOnNodes, KeepsTheOrderOfRanksWhereTheOperationNeedsIt) {
  Question question = on_four_nodes(Collective::allreduce, mib);
  question.is_commutative = false;
  expect_chosen(question, "two_level/48K");
}

TEST(SelectionOnNodes, TakesOnlySmallBlocksOfDifferingSizesOverLeaders) {
  for (const Collective collective : {Collective::scatter, Collective::alltoall}) {
    Question question = on_four_nodes(collective, 0);  // ranks know no more than their own sizes
    question.is_uneven = true;
    expect_chosen(question, "two_level:8K");
  }
}

TEST(SelectionOnNodes, OfAnUnevenGatherMindsHowManyRanksANodeHas) {
  Question question = on_four_nodes(Collective::gather, 0);
  question.is_uneven = true;
  expect_chosen(question, "linear");
  constexpr std::array<int, 8> two_by_four{0, 0, 0, 0, 4, 4, 4, 4};
  question.nodes = 2;
  question.spread = two_by_four;
  expect_chosen(question, "two_level:8K");
}

Question on_a_node_each(Collective collective, std::int64_t bytes) {
  static constexpr std::array<int, 4> apart{0, 1, 2, 3};
  Question question = on_four_nodes(collective, bytes);
  question.ranks = 4;
  question.spread = apart;
  return question;
}

class SelectionWithARankPerNode : public testing::TestWithParam<Border> {};

TEST_P(SelectionWithARankPerNode, ChangesAtTheBorder) {
  const auto& [collective, last, below, above] = GetParam();
  expect_chosen(on_a_node_each(collective, last), below);
  expect_chosen(on_a_node_each(collective, last + 1), above);
}

INSTANTIATE_TEST_SUITE_P(Table, SelectionWithARankPerNode,
                         testing::Values(Border{Collective::broadcast, 32 * kib, "knomial", "two_tree/60K"},
                                         Border{Collective::broadcast, 256 * mib, "two_tree/60K", "two_tree/1M"},
                                         Border{Collective::reduce, 32 * kib, "two_tree", "two_tree/60K"},
                                         Border{Collective::reduce, 256 * mib, "two_tree/60K", "two_tree/1M"},
                                         Border{Collective::allreduce, 256 * kib - 1, "rabenseifner", "ring/48K"},
                                         Border{Collective::allreduce, 256 * mib, "ring/48K", "ring/1M"},
                                         Border{Collective::reduce_scatter, mib - 1, "circulant", "ring/60K"},
                                         Border{Collective::reduce_scatter, 256 * mib, "ring/60K", "ring/1M"},
                                         Border{Collective::allgather, mib - 1, "ring", "ring/60K"},
                                         Border{Collective::allgather, 256 * mib, "ring/60K", "ring/1M"}),
                         [](const auto& info) {
                           return std::string{to_string(info.param.collective)} + std::to_string(info.param.last);
                         });

/// A ring of very many nodes takes as many rounds, however much there is in all.
TEST(SelectionOnNodes, RingsWantLongBlocks) {
  std::vector<int> apart(8192), pairs(8192);
  for (int rank = 0; rank < 8192; ++rank) {
    apart[static_cast<std::size_t>(rank)] = rank;
    pairs[static_cast<std::size_t>(rank)] = rank / 2;
  }
  Question question = on_four_nodes(Collective::reduce_scatter, 300 * mib);
  question.ranks = question.nodes = 8192;
  question.spread = apart;
  expect_chosen(question, "circulant");
  question.collective = Collective::allreduce;
  expect_chosen(question, "rabenseifner");
  question.nodes = 4096;
  question.spread = pairs;
  expect_chosen(question, "lanes/1M");
  question.nodes = 64;
  question.spread = {};
  question.ranks = 64 * 64;
  question.bytes = Bytes{33 * mib};
  expect_chosen(question, "lanes/48K");
  question.nodes = question.ranks = 2;
  question.bytes = Bytes{256 * kib - 1};
  expect_chosen(question, "recursive_doubling");
}

/// Sums that a ring would add in another order.
TEST(SelectionOnNodes, KeepsTheOrderInSegmentsWithARankPerNode) {
  Question question = on_a_node_each(Collective::allreduce, 256 * kib);
  question.bits = Bits::fixed;
  expect_chosen(question, "rabenseifner/48K");
  question = on_a_node_each(Collective::reduce_scatter, mib);
  question.bits = Bits::fixed;
  expect_chosen(question, "recursive_halving/48K");
  question = on_a_node_each(Collective::allreduce, 256 * kib);
  question.gathers = true;
  expect_chosen(question, "exchange:64/48K");
  question = on_a_node_each(Collective::reduce_scatter, mib);
  question.gathers = true;
  expect_chosen(question, "exchange:64/48K");
}

TEST(SelectionOnNodes, IsElseThatOfOneLevelWithARankPerNode) {
  expect_chosen(on_a_node_each(Collective::allreduce, 8), "recursive_doubling");
  expect_chosen(on_a_node_each(Collective::gather, mib), "linear");
}

TEST(SelectionOnANode, TakesFewTurnsAtProcessorsThatRanksShare) {
  const std::string few_turns = "reduce_broadcast:64/64K";
  Question question{.collective = Collective::allreduce,
                    .ranks = 6,
                    .bytes = Bytes{256},
                    .shares_memory = true,
                    .shares_processors = true};
  expect_chosen(question, "one_shot");
  question.bytes = Bytes{257};
  expect_chosen(question, few_turns);
  question.ranks = 8;
  question.bytes = Bytes{64};
  expect_chosen(question, "one_shot");
  question.bytes = Bytes{65};
  expect_chosen(question, few_turns);
  question.bytes = Bytes{8 * kib};
  expect_chosen(question, few_turns);
  question.bytes = Bytes{8 * kib + 1};
  expect_chosen(question, "two_shot/256K");
  question.bytes = Bytes{8};
  question.ranks = 9;
  expect_chosen(question, few_turns);
  question.bytes = Bytes{256 * kib};
  expect_chosen(question, few_turns);
  question.bytes = Bytes{256 * kib + 1};
  expect_chosen(question, "two_shot/1M");
  question.bytes = Bytes{8};
  question.ranks = 64;
  expect_chosen(question, few_turns);
  question.ranks = 65;
  expect_chosen(question, "recursive_doubling");
  question.ranks = 5;
  question.bytes = Bytes{4 * kib};
  expect_chosen(question, few_turns);
  question.ranks = 4;
  expect_chosen(question, "one_shot");
  question.ranks = 8;
  question.shares_processors = false;
  expect_chosen(question, "one_shot");
}

TEST(SelectionOnANode, OfTwoRanksGoesInPartsFromAQuarterMebibyteOn) {
  Question question{.collective = Collective::allreduce, .ranks = 2, .bytes = Bytes{256 * kib}, .shares_memory = true};
  expect_chosen(question, "rabenseifner");
  question.bytes = Bytes{256 * kib + 1};
  expect_chosen(question, "two_shot/256K");
  question.bytes = Bytes{4 * mib + 1};
  expect_chosen(question, "two_shot/256K");
}

TEST(SelectionOnANode, FlatForAsManyRanksAsOneCanServe) {
  const auto chosen = [](Collective collective, int ranks, std::int64_t bytes, bool shares_processors,
                         const std::string& wanted) {
    const Question question{.collective = collective,
                            .ranks = ranks,
                            .bytes = Bytes{bytes},
                            .shares_memory = true,
                            .shares_processors = shares_processors};
    expect_chosen(question, wanted);
  };
  constexpr std::int64_t mebibyte = 1024 * kib, gibibyte = 1024 * mebibyte;
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter})
    for (const std::int64_t bytes : {std::int64_t{8}, gibibyte}) {
      chosen(collective, 2, bytes, false,
             bytes == 8 || collective == Collective::reduce_scatter ? "circulant" : "ring");
      chosen(collective, 3, bytes, false, "one_shot");
      chosen(collective, 16, bytes, true, "one_shot");
      chosen(collective, 17, bytes, true,
             bytes == 8 || collective == Collective::reduce_scatter ? "circulant" : "ring");
    }
  chosen(Collective::allreduce, 2, 16 * kib, false, "recursive_doubling");
  chosen(Collective::allreduce, 2, 16 * kib + 1, false, "rabenseifner");
  chosen(Collective::allreduce, 3, 16 * kib, false, "one_shot");
  chosen(Collective::allreduce, 3, 16 * kib + 1, false, "two_shot/256K");
  chosen(Collective::allreduce, 4, 4 * kib, false, "one_shot");
  chosen(Collective::allreduce, 4, 8 * kib, false, "recursive_doubling");
  chosen(Collective::allreduce, 4, 8 * kib + 1, false, "two_shot/256K");
  chosen(Collective::allreduce, 8, 8 * kib, false, "recursive_doubling");
  chosen(Collective::allreduce, 8, 8 * kib + 1, false, "two_shot/256K");
  chosen(Collective::allreduce, 4, gibibyte, false, "two_shot/256K");
  chosen(Collective::allreduce, 4, gibibyte + 1, false, "rabenseifner");
  chosen(Collective::allreduce, 8, 4 * mebibyte, false, "two_shot/256K");
  chosen(Collective::allreduce, 8, 4 * mebibyte + 1, false, "two_shot/1M");
  chosen(Collective::allreduce, 9, mebibyte, false, "two_shot/1M");
  chosen(Collective::allreduce, 16, 128 * mebibyte, false, "two_shot/1M");
  chosen(Collective::allreduce, 16, gibibyte, false, "two_shot/1M");
  chosen(Collective::allreduce, 16, gibibyte + 1, false, "rabenseifner");
  chosen(Collective::reduce, 2, mebibyte, true, "knomial");
  chosen(Collective::reduce, 2, mebibyte, false, "knomial");
  chosen(Collective::reduce, 16, mebibyte, true, "knomial:16/64K");
  chosen(Collective::reduce, 16, mebibyte, false, "two_tree");
  chosen(Collective::reduce, 17, mebibyte, true, "two_tree");
  chosen(Collective::broadcast, 16, mebibyte, false, "knomial:16/64K");
  chosen(Collective::scan, 4, 128 * kib, false, "recursive_doubling");
  chosen(Collective::scan, 4, 128 * kib + 1, false, "linear/64K");
  chosen(Collective::scan, 8, 64 * kib, false, "recursive_doubling");
  chosen(Collective::exscan, 8, 64 * kib + 1, false, "linear/64K");
  chosen(Collective::exscan, 3, mebibyte, true, "linear/64K");
  chosen(Collective::exscan, 3, 32 * mebibyte + 1, true, "linear/64K");
  chosen(Collective::scan, 3, gibibyte, true, "linear/64K");
  chosen(Collective::scan, 3, gibibyte + 1, true, "recursive_doubling");
  chosen(Collective::reduce, 3, 32 * mebibyte, true, "knomial:16/64K");
  chosen(Collective::reduce, 3, gibibyte, true, "knomial:16/64K");
  chosen(Collective::exscan, 17, mebibyte, true, "doubling_123");
  chosen(Collective::barrier, 16, 0, false, "dissemination:16");
  chosen(Collective::barrier, 17, 0, false, "dissemination");
}

/// The rows say what select() gives: on both sides of each row's first size, and at sizes between.
void expect_told_by_size(Question question, const UserChoices& users) {
  const std::vector<SelectionFrom> rows = select_by_size(question, users, nullptr);
  const auto expect_at = [&](std::int64_t bytes, const Selection& wanted) {
    question.bytes = Bytes{bytes};
    const Selection selection = select(question, users, nullptr);
    EXPECT_TRUE(selection.choice == wanted.choice && selection.why == wanted.why)
        << to_string(question.collective) << " of " << bytes << " bytes";
  };
  EXPECT_EQ(rows.front().bytes, Bytes{0});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) expect_at(rows[i].bytes.value() - 1, rows[i - 1].selection);
    const std::int64_t end = i + 1 < rows.size() ? rows[i + 1].bytes.value() : std::int64_t{1} << 40;
    for (std::int64_t bytes = rows[i].bytes.value(); bytes < end; bytes += 1 + bytes / 50)
      expect_at(bytes, rows[i].selection);
  }
}

TEST(SelectBySize, TellsWhatIsChosen) {
  for (int i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    expect_told_by_size(on_four_nodes(collective, 0), {});
    for (const int ranks : {1, 2, 3, 8, 17, 64})
      for (const bool shares_processors : {false, true})
        expect_told_by_size(
            {.collective = collective, .ranks = ranks, .shares_memory = true, .shares_processors = shares_processors},
            {});
  }
}

TEST(SelectBySize, HasRowsOfSeveralAlgorithmsOrTheOneOfTheUser) {
  const Question question{.collective = Collective::allreduce, .ranks = 8, .shares_memory = true};
  EXPECT_GE(select_by_size(question, {}, nullptr).size(), 4U);
  UserChoices users{.choices = read_choices("ring", "test"), .chosen_by = {}};
  users.chosen_by.fill("test");
  const std::vector<SelectionFrom> rows = select_by_size(question, users, nullptr);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(to_text(rows.front().selection.choice), "ring");
}

}  // namespace
}  // namespace tutti
