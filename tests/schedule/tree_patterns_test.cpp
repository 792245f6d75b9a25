// Trees, dissemination and circulant graphs that algorithms are drawn with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "algorithms/circulant_broadcast_pattern.hpp"
#include "algorithms/dissemination_pattern.hpp"
#include "algorithms/halving_tree_pattern.hpp"
#include "algorithms/tree_pattern.hpp"
#include "algorithms/two_trees_pattern.hpp"

namespace tutti {
namespace {

using testing::ElementsAre;

constexpr int most_ranks = 40;

/// The places of all ranks in one tree.
using Places = std::vector<TreePlace>;

/// Expects that parents and children agree, and that all ranks hang below one root. Says how deep.
int depth_of(const Places& places) {
  std::vector<Rank> reached;
  for (int rank = 0; const TreePlace& place : places) {
    if (!place.parent) reached.emplace_back(rank);
    ++rank;
  }
  EXPECT_EQ(reached.size(), 1U);
  int depth = -1;
  std::size_t all = 0;
  for (; !reached.empty(); ++depth) {
    std::vector<Rank> below;
    all += reached.size();
    for (const Rank rank : reached)
      for (const Rank child : places[static_cast<std::size_t>(rank.value())].children) {
        EXPECT_EQ(places[static_cast<std::size_t>(child.value())].parent, rank);
        below.push_back(child);
      }
    reached = below;
    if (all > places.size()) break;
  }
  EXPECT_EQ(all, places.size());
  return depth;
}

Places knomial_places(int size, Rank root, int radix) {
  Places places;
  for (Rank rank; rank.value() < size; rank = Rank{rank.value() + 1})
    places.push_back(knomial_place({rank, size, root, radix}, rank));
  return places;
}

TEST(KnomialTree, LoadOfAllRootsIsThatOfTheirTreesTogether) {
  for (const int radix : {2, 3, 8})
    for (int size = 1; size <= most_ranks; ++size)
      for (Rank rank; rank.value() < size; rank = Rank{rank.value() + 1}) {
        int children = 0, inner = 0;
        for (Rank root; root.value() < size; root = Rank{root.value() + 1}) {
          const auto own = static_cast<int>(knomial_place({rank, size, root, radix}, rank).children.size());
          children += own;
          if (root != rank && own > 0) ++inner;
        }
        const LoadOfAllRoots load = load_of_all_roots(rank, size, radix);
        EXPECT_EQ(load.children, children) << rank.value() << " of " << size << ", radix " << radix;
        EXPECT_EQ(load.inner, inner) << rank.value() << " of " << size << ", radix " << radix;
      }
}

TEST(KnomialTree, ChildrenAreNeighboursOfWhatIsCombinedBefore) {
  const TreePlace place = knomial_place({Rank{4}, 9, Rank{4}, 3}, Rank{4});
  EXPECT_FALSE(place.parent);
  EXPECT_THAT(place.children, ElementsAre(Rank{6}, Rank{0}, Rank{5}, Rank{3}));
}

TEST(KnomialTree, ShapeIsThatOfTheBusiestRanks) {
  for (int radix = 2; radix <= 5; ++radix)
    for (int size = 1; size <= most_ranks; ++size)
      for (Rank root; root.value() < size; root = Rank{root.value() + 1}) {
        const Places places = knomial_places(size, root, radix);
        const KnomialShape shape = knomial_shape(size, root, radix);
        EXPECT_EQ(shape.depth, depth_of(places)) << size << " ranks, root " << root.value() << ", radix " << radix;
        int inner = 0;
        for (const TreePlace& place : places)
          if (place.parent) inner = std::max(inner, static_cast<int>(place.children.size()));
        EXPECT_EQ(shape.inner_children, inner);
        EXPECT_EQ(shape.root_children, places[static_cast<std::size_t>(root.value())].children.size());
      }
}

TEST(Chain, GoesRoundFromTheRoot) {
  EXPECT_FALSE(chain_place(Rank{2}, 4, Rank{2}).parent);
  EXPECT_THAT(chain_place(Rank{3}, 4, Rank{2}).children, ElementsAre(Rank{0}));
  EXPECT_THAT(chain_place(Rank{1}, 4, Rank{2}).children, ElementsAre());
  EXPECT_THAT(chain_place(Rank{0}, 1, Rank{0}).children, ElementsAre());
}

/// Expects that no rank but `head` has children in both trees.
void expect_shared(const std::array<Places, 2>& trees, std::optional<Rank> head) {
  for (std::size_t rank = 0; rank < trees[0].size(); ++rank) {
    if (head && head->value() == static_cast<int>(rank)) continue;
    EXPECT_TRUE(trees[0][rank].children.empty() || trees[1][rank].children.empty()) << "rank " << rank;
    EXPECT_LE(trees[0][rank].children.size() + trees[1][rank].children.size(), 2U);
  }
}

TEST(TwoTrees, BelowOneRootShareTheWork) {
  for (int size = 2; size <= most_ranks; ++size)
    for (const int root : {0, 1, size / 2, size - 1}) {
      SCOPED_TRACE(testing::Message() << size << " ranks, root " << root);
      std::array<Places, 2> trees;
      for (int rank = 0; rank < size; ++rank) {
        const auto [first, second] = two_trees_below(Rank{root}, Rank{rank}, size);
        trees[0].push_back(first), trees[1].push_back(second);
      }
      EXPECT_EQ(depth_of(trees[0]), binary_depth(size - 1) + 1);
      EXPECT_EQ(depth_of(trees[1]), binary_depth(size - 1) + 1);
      expect_shared(trees, Rank{root});
    }
}

TEST(TwoTrees, OverAllRanksShareTheWork) {
  for (int size = 2; size <= most_ranks; ++size) {
    SCOPED_TRACE(testing::Message() << size << " ranks");
    std::array<Places, 2> trees;
    for (int rank = 0; rank < size; ++rank) {
      const auto [first, second] = two_trees_over(Rank{rank}, size);
      trees[0].push_back(first), trees[1].push_back(second);
    }
    EXPECT_EQ(std::max(depth_of(trees[0]), depth_of(trees[1])), two_trees_depth(size));
    expect_shared(trees, std::nullopt);
  }
}

TEST(HalvingGather, ReachesTheRoot) {
  constexpr int size = 6;
  const auto gather = [&](int rank, int root) {
    const Folding fold{Rank{rank}, size};
    return gather_after(recursive_halving(fold, {Buffer::output, Count{0}, Count{4}}), fold, Rank{root}, size);
  };
  EXPECT_EQ(gather(5, 5).received.size(), 2U);
  EXPECT_FALSE(gather(5, 5).sent);
  EXPECT_EQ(gather(4, 5).sent->peer, Rank{5});
  EXPECT_EQ(gather(4, 5).sent->kept, (Region{Buffer::output, Count{0}, Count{2}}));
  EXPECT_EQ(gather(3, 0).sent->peer, Rank{0}) << "in place of rank 1, which stands for it";
}

TEST(Dissemination, EveryoneHearsOfEveryoneOnce) {
  for (int radix = 2; radix <= 5; ++radix)
    for (int size = 1; size <= most_ranks; ++size) {
      std::map<int, int> heard{{0, 1}};  // from how far, how often
      for (const auto& [to, from] : dissemination(Rank{0}, size, radix)) {
        const std::map<int, int> before = heard;
        for (const Rank peer : from)
          for (const auto& [distance, times] : before)
            heard[size - peer.value() + distance] += times;
        EXPECT_EQ(to.size(), from.size());
      }
      for (int distance = 0; distance < size; ++distance)
        EXPECT_EQ(heard[distance], 1) << size << " ranks, radix " << radix;
    }
}

/// The conditions on schedules of arXiv 2407.18004, section 2: they make every long broadcast right.
void expect_right(int size) {
  const BroadcastCirculant graph{size};
  const int phase = graph.rounds();
  std::vector<std::vector<int>> receives(1);
  for (int position = 1; position < size; ++position)
    receives.push_back(graph.receives(position));
  const auto received = [&](int position, int round) {
    return receives[static_cast<std::size_t>(position)][static_cast<std::size_t>(round)];
  };
  for (int round = 0; round < phase; ++round)
    ASSERT_EQ(received(graph.ahead(0, round), round), round) << "the root sends one block after the other";
  for (int position = 1; position < size; ++position) {
    const auto& own = receives[static_cast<std::size_t>(position)];
    std::set<int> blocks, fresh;
    for (const int block : own) {
      blocks.insert((block + phase) % phase);
      if (block >= 0) fresh.insert(block);
    }
    ASSERT_EQ(static_cast<int>(blocks.size()), phase) << size << " ranks, position " << position;
    ASSERT_EQ(fresh.size(), 1U) << "all but one are of the phase before";
    std::set<int> held{*fresh.begin() - phase};
    for (int round = 0; round < phase; ++round) {
      const int peer = graph.ahead(position, round);
      if (peer != 0) {
        ASSERT_TRUE(held.contains(received(peer, round)))
            << size << " ranks, position " << position << ", round " << round << ": sends what it has not";
      }
      held.insert(own[static_cast<std::size_t>(round)]);
    }
  }
}

TEST(Circulant, SchedulesAreRightForAnySize) {
  for (int size = 2; size <= 300; ++size)
    expect_right(size);
  for (const int size : {1000, 1023, 1024, 1025, 2000})
    expect_right(size);
}

TEST(Circulant, EveryRankReceivesEveryBlockOnceInTheFewestRounds) {
  for (int size = 2; size <= most_ranks; ++size)
    for (const int blocks : {1, 2, 3, 8, 11})
      for (int rank = 0; rank < size; ++rank) {
        const auto rounds = circulant_broadcast(Rank{rank}, size, Rank{1}, blocks);
        EXPECT_EQ(static_cast<int>(rounds.size()), blocks - 1 + std::bit_width(static_cast<unsigned>(size - 1)));
        std::multiset<int> received;
        for (const BroadcastRound& round : rounds)
          if (round.received) received.insert(round.received->block);
        EXPECT_EQ(received.size(), rank == 1 ? 0U : static_cast<std::size_t>(blocks));
        EXPECT_EQ(std::set<int>(received.begin(), received.end()).size(), received.size());
      }
}

TEST(Circulant, DepthIsBounded) {
  EXPECT_EQ(circulant_broadcast_depth(1, 8), 0);
  EXPECT_EQ(circulant_broadcast_depth(2, 8), 1);
  EXPECT_EQ(circulant_broadcast_depth(64, 1), 6);
  EXPECT_EQ(circulant_broadcast_depth(64, 8), 7);
  EXPECT_EQ(circulant_broadcast_depth(81, 2), 6);
  EXPECT_EQ(circulant_broadcast_depth(81, 8), 7) << "not all blocks have as long a way";
  EXPECT_EQ(circulant_broadcast_depth(1024, 20), 11);
  EXPECT_EQ(circulant_broadcast_depth(100'000, 20), 18);
}

}  // namespace
}  // namespace tutti
