// The shapes that algorithms are drawn with, and the registry that lists them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"

namespace tutti {
namespace {

using testing::ElementsAre;

constexpr int most_ranks = 64;

Region output_of(int count) { return {Buffer::output, Count{0}, Count{count}}; }

TEST(Ring, NeighboursAndPositionsBehind) {
  const Ring ring{Rank{0}, 5};
  EXPECT_EQ(ring.next(), Rank{1});
  EXPECT_EQ(ring.previous(), Rank{4});
  EXPECT_EQ(ring.behind(0), 0);
  EXPECT_EQ(ring.behind(2), 3);
  EXPECT_EQ(ring.behind(-6), 1);
  EXPECT_EQ(ring.behind(11), 4);
  const Ring alone{Rank{0}, 1};
  EXPECT_EQ(alone.next(), Rank{0});
}

TEST(Blocks, FirstBlocksTakeTheRemainder) {
  const Blocks blocks{output_of(11).in(Buffer::scratch), 4};
  std::vector<std::int64_t> counts, offsets;
  for (int block = 0; block < blocks.parts(); ++block) {
    EXPECT_EQ(blocks[block].buffer, Buffer::scratch);
    counts.push_back(blocks[block].count.value());
    offsets.push_back(blocks[block].offset.value());
  }
  EXPECT_THAT(counts, ElementsAre(3, 3, 3, 2));
  EXPECT_THAT(offsets, ElementsAre(0, 3, 6, 9));
  EXPECT_EQ(blocks.largest(), Count{3});
  EXPECT_EQ(blocks.span(1, 3), (Region{Buffer::scratch, Count{3}, Count{6}}));
}

TEST(Blocks, TileTheWholeAndDifferByOneAtMost) {
  for (int parts = 1; parts <= most_ranks; ++parts)
    for (const int count : {0, 1, parts - 1, parts, parts + 1, 1000}) {
      const Region whole{Buffer::output, Count{5}, Count{count}};
      const Blocks blocks{whole, parts};
      Count end = whole.offset;
      for (int block = 0; block < parts; ++block) {
        EXPECT_EQ(blocks[block].offset, end);
        EXPECT_GE(blocks[block].count, whole.count / parts);
        EXPECT_LE(blocks[block].count, blocks.largest());
        end += blocks[block].count;
      }
      EXPECT_EQ(end, whole.offset + whole.count);
      EXPECT_LE(blocks.largest() - whole.count / parts, Count{1});
    }
}

TEST(Folding, PlacesThoseThatStayOnCorePositionsInTheOrderOfRanks) {
  for (int size = 1; size <= most_ranks; ++size) {
    int next = 0, sit_out = 0;
    for (int rank = 0; rank < size; ++rank) {
      const Folding fold{Rank{rank}, size};
      EXPECT_LE(fold.core(), size);
      EXPECT_GT(2 * fold.core(), size);
      EXPECT_EQ(1 << fold.rounds(), fold.core());
      EXPECT_EQ(fold.even(), fold.core() == size);
      if (fold.sits_out()) {
        ++sit_out;
        const Folding partner{fold.partner(), size};
        EXPECT_TRUE(fold.paired() && partner.paired() && !partner.sits_out());
        EXPECT_EQ(partner.partner(), Rank{rank});
      } else {
        EXPECT_EQ(fold.position(), next++) << "rank " << rank << " of " << size;
      }
    }
    EXPECT_EQ(next, (Folding{Rank{0}, size}.core()));
    EXPECT_EQ(next + sit_out, size);
  }
}

TEST(Folding, AcrossIsMutual) {
  for (int size = 1; size <= most_ranks; ++size)
    for (int rank = 0; rank < size; ++rank) {
      const Folding fold{Rank{rank}, size};
      if (fold.sits_out()) continue;
      for (int distance = 1; distance < fold.core(); distance *= 2) {
        const Folding peer{fold.across(distance), size};
        EXPECT_FALSE(peer.sits_out());
        EXPECT_EQ(peer.position(), fold.position() ^ distance);
        EXPECT_EQ(peer.across(distance), Rank{rank});
      }
    }
}

TEST(RecursiveHalving, PeersGiveEachOtherWhatTheyKeep) {
  for (int size = 1; size <= most_ranks; ++size) {
    const Region whole = output_of(2 * size + 3);
    std::set<Count> kept;
    for (int rank = 0; rank < size; ++rank) {
      const Folding fold{Rank{rank}, size};
      if (fold.sits_out()) continue;
      const std::vector<Halving> rounds = recursive_halving(fold, whole);
      ASSERT_EQ(static_cast<int>(rounds.size()), fold.rounds());
      Region held = whole;
      for (std::size_t round = 0; round < rounds.size(); ++round) {
        const auto& [peer, keeps, gives] = rounds[round];
        const Halving theirs = recursive_halving(Folding{peer, size}, whole)[round];
        EXPECT_EQ(theirs.peer, Rank{rank});
        EXPECT_EQ(theirs.kept, gives);
        EXPECT_EQ(theirs.given, keeps);
        EXPECT_EQ(keeps.count + gives.count, held.count);
        EXPECT_EQ(std::min(keeps.offset, gives.offset), held.offset);
        held = keeps;
      }
      EXPECT_TRUE(kept.insert(held.offset).second) << "two ranks keep the same block";
    }
  }
}

TEST(Registry, FindsEachAlgorithmByItsName) {
  EXPECT_THAT(algorithms(), testing::SizeIs(testing::Ge(3)));
  std::set<std::pair<Collective, std::string_view>> names;
  for (const Algorithm* algorithm : algorithms()) {
    EXPECT_TRUE(names.emplace(algorithm->collective, algorithm->name).second) << algorithm->name << " is there twice";
    EXPECT_EQ(find_algorithm(algorithm->collective, algorithm->name), algorithm);
    EXPECT_FALSE(algorithm->summary.empty());
    EXPECT_FALSE(algorithm->source.empty());
  }
  EXPECT_EQ(find_algorithm(Collective::allreduce, "best"), nullptr);
}

TEST(Registry, ListsEveryFile) {
  const std::filesystem::path folder{TUTTI_ALGORITHMS};
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  std::set<std::string> files, registered;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{folder})
    if (entry.path().extension() == ".cpp") files.insert(entry.path().stem().string());
  for (const Algorithm* algorithm : algorithms())
    registered.insert(std::string{to_string(algorithm->collective)} + "_" + std::string{algorithm->name});
  std::erase_if(files, [](const std::string& file) { return file.starts_with("phases_"); });
  EXPECT_THAT(files, testing::ContainerEq(registered));
}

TEST(Registry, ListsNames) {
  for (int i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    EXPECT_EQ(find_collective(to_string(collective)), collective);
    EXPECT_NE(algorithm_names(collective), "") << to_string(collective);
  }
  EXPECT_EQ(find_collective("allreduces"), std::nullopt);
  const std::string ordered = algorithm_names(Collective::allreduce, Order::of_ranks);
  EXPECT_THAT(ordered, testing::HasSubstr("recursive_doubling"));
  EXPECT_THAT(ordered, testing::HasSubstr("rabenseifner"));
  EXPECT_THAT(ordered, testing::Not(testing::HasSubstr("ring")));
  EXPECT_EQ(algorithm_names(Collective::scan), "recursive_doubling, linear, exchange, two_level");
}

}  // namespace
}  // namespace tutti
