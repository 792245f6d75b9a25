// Collectives whose blocks differ: every datatype, gaps between blocks, blocks before the buffer's address, no data.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/interpose/memory.hpp"
#include "tests/interpose/shapes.hpp"

namespace tutti::test {
namespace {

/// Blocks of 0, 1 or 2 times `block_integers`, from the last rank's to the first's; the first ranks' lie before the
/// buffer's address.
struct Blocks {
  std::vector<N> counts;
  std::vector<D> places;
};

std::size_t room() { return static_cast<std::size_t>(size_of()) * 3 * block_bytes; }

/// Times of a block that `from` sends to `to`.
int times(int from, int to) { return (from + 2 * to + 1) % 3; }

/// `times_of(rank)` blocks of a shape for each rank; places in elements, or in bytes.
template <class TimesOf>
Blocks blocks_of(const Shape& shape, const TimesOf& times_of, bool in_bytes = false) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(shape.type, &lower, &extent);
  Blocks blocks;
  for (int rank = 0; rank < size_of(); ++rank) {
    const int slot = size_of() / 2 - rank;  // negative for the last ranks
    blocks.counts.push_back(times_of(rank) * shape.elements());
    const MPI_Aint elements = slot * (2 * shape.elements() + 1);
    blocks.places.push_back(static_cast<D>(in_bytes ? elements * extent : elements));
  }
  return blocks;
}

class Uneven : public testing::TestWithParam<std::size_t> {
 protected:
  static const Shape& shape(std::size_t step) {
    return shapes()[(GetParam() + step * static_cast<std::size_t>(rank_in())) % shapes().size()];
  }
};

TEST_P(Uneven, Gatherv) {
  const Shape &sent = shape(1), &received = shape(2);
  for (int root = 0; root < size_of(); ++root) {
    const Blocks blocks = blocks_of(received, [&](int rank) { return times(rank, root); });
    for (const bool in_place : {false, true})
      compare("gatherv of " + received.name, room(), room(), [&](const Calls& calls, void* in, std::byte* out) {
        const bool is_here = in_place && rank_in() == root;
        return calls.Gatherv(is_here ? MPI_IN_PLACE : in, times(rank_in(), root) * sent.elements(), sent.type,
                             out + room() / 2, blocks.counts.data(), blocks.places.data(), received.type, root,
                             MPI_COMM_WORLD);
      });
  }
}

TEST_P(Uneven, Scatterv) {
  const Shape &sent = shape(1), &received = shape(2);
  for (int root = 0; root < size_of(); ++root) {
    const Blocks blocks = blocks_of(sent, [&](int rank) { return times(root, rank); });
    for (const bool in_place : {false, true})
      compare("scatterv of " + sent.name, room(), room(), [&](const Calls& calls, std::byte* in, void* out) {
        const bool is_here = in_place && rank_in() == root;
        return calls.Scatterv(in + room() / 2, blocks.counts.data(), blocks.places.data(), sent.type,
                              is_here ? MPI_IN_PLACE : out, times(root, rank_in()) * received.elements(), received.type,
                              root, MPI_COMM_WORLD);
      });
  }
}

TEST_P(Uneven, Allgatherv) {
  const Shape &sent = shape(1), &received = shape(2);
  const auto sends = [](int rank) { return times(rank, 1); };
  const Blocks blocks = blocks_of(received, sends);
  for (const bool in_place : {false, true})
    compare("allgatherv of " + received.name, room(), room(), [&](const Calls& calls, void* in, std::byte* out) {
      return calls.Allgatherv(in_place ? MPI_IN_PLACE : in, sends(rank_in()) * sent.elements(), sent.type,
                              out + room() / 2, blocks.counts.data(), blocks.places.data(), received.type,
                              MPI_COMM_WORLD);
    });
}

/// All ranks send the same, so that it does not matter whose block is written last. The blocks of a rank lie one on the
/// other, the last one elsewhere.
TEST_P(Uneven, BlocksThatOverlap) {
  const Shape& both = shape(0);
  std::vector<N> counts(static_cast<std::size_t>(size_of()), both.elements());
  std::vector<D> places(counts.size(), 0);
  places.back() = 2 * both.elements();
  const std::vector<D> from(counts.size(), 0);
  const auto same_input = [](std::byte* in) {
    MPI_Bcast(in, static_cast<int>(room()), MPI_BYTE, 0, MPI_COMM_WORLD);
    return in;
  };
  compare("allgatherv of " + both.name, room(), room(), [&](const Calls& calls, std::byte* in, std::byte* out) {
    return calls.Allgatherv(same_input(in) + room() / 2, both.elements(), both.type, out + room() / 2, counts.data(),
                            places.data(), both.type, MPI_COMM_WORLD);
  });
  compare("gatherv of " + both.name, room(), room(), [&](const Calls& calls, std::byte* in, std::byte* out) {
    return calls.Gatherv(same_input(in) + room() / 2, both.elements(), both.type, out + room() / 2, counts.data(),
                         places.data(), both.type, size_of() - 1, MPI_COMM_WORLD);
  });
  compare("alltoallv of " + both.name, room(), room(), [&](const Calls& calls, std::byte* in, std::byte* out) {
    return calls.Alltoallv(same_input(in) + room() / 2, counts.data(), from.data(), both.type, out + room() / 2,
                           counts.data(), places.data(), both.type, MPI_COMM_WORLD);
  });
}

TEST_P(Uneven, Alltoallv) {
  const Shape &sent = shape(1), &received = shape(2);
  const Blocks in_blocks = blocks_of(sent, [](int rank) { return times(rank_in(), rank); });
  const Blocks out_blocks = blocks_of(received, [](int rank) { return times(rank, rank_in()); });
  compare("alltoallv of " + sent.name, room(), room(), [&](const Calls& calls, std::byte* in, std::byte* out) {
    return calls.Alltoallv(in + room() / 2, in_blocks.counts.data(), in_blocks.places.data(), sent.type,
                           out + room() / 2, out_blocks.counts.data(), out_blocks.places.data(), received.type,
                           MPI_COMM_WORLD);
  });
  const Blocks both = blocks_of(received, [](int rank) { return (rank + rank_in()) % 3; });
  compare("alltoallv in place of " + received.name, 0, 2 * room(), [&](const Calls& calls, void*, std::byte* out) {
    return calls.Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, out + room(), both.counts.data(),
                           both.places.data(), received.type, MPI_COMM_WORLD);
  });
}

/// Another shape for each block.
struct TypedBlocks {
  std::vector<N> counts;
  std::vector<D> places;
  std::vector<MPI_Datatype> types;
};

template <class TimesOf>
TypedBlocks typed_blocks(std::size_t first, const TimesOf& times_of) {
  TypedBlocks blocks;
  for (int rank = 0; rank < size_of(); ++rank) {
    const Shape& shape = shapes()[(first + static_cast<std::size_t>(rank)) % shapes().size()];
    blocks.counts.push_back(times_of(rank) * shape.elements());
    blocks.places.push_back(static_cast<D>((size_of() / 2 - rank) * 2 * block_bytes));
    blocks.types.push_back(shape.type);
  }
  return blocks;
}

TEST_P(Uneven, Alltoallw) {
  const auto first = GetParam() + static_cast<std::size_t>(rank_in());
  const TypedBlocks in_blocks = typed_blocks(first, [](int rank) { return times(rank_in(), rank); });
  const TypedBlocks out_blocks = typed_blocks(first + 5, [](int rank) { return times(rank, rank_in()); });
  compare("alltoallw", room(), room(), [&](const Calls& calls, std::byte* in, std::byte* out) {
    return calls.Alltoallw(in + room() / 2, in_blocks.counts.data(), in_blocks.places.data(), in_blocks.types.data(),
                           out + room() / 2, out_blocks.counts.data(), out_blocks.places.data(),
                           out_blocks.types.data(), MPI_COMM_WORLD);
  });
  const TypedBlocks both = typed_blocks(first, [](int rank) { return (rank + rank_in()) % 3; });
  compare("alltoallw in place", 0, room(), [&](const Calls& calls, void*, std::byte* out) {
    return calls.Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, out + room() / 2, both.counts.data(),
                           both.places.data(), both.types.data(), MPI_COMM_WORLD);
  });
}

TEST(UnevenLists, HaveGreatDifferences) {
  const auto ranks = static_cast<std::size_t>(size_of());
  std::vector<N> counts(ranks);
  for (std::size_t i = 0; i < ranks; ++i)
    counts[i] = i % 2 == 0 ? 0 : static_cast<N>(100'000 * i + 1);
  std::vector<D> places(ranks);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), D{0}, [](D sum, D next) { return sum + next; });
  const auto total = static_cast<std::size_t>(places.back() + counts.back());
  compare("allgatherv of much and of nothing", total * 4, total * 4, [&](const Calls& calls, void* in, void* out) {
    const N mine = counts[static_cast<std::size_t>(rank_in())];
    return calls.Allgatherv(in, mine, MPI_INT, out, counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD);
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Uneven, testing::Range(std::size_t{0}, number_of_shapes));

}  // namespace
}  // namespace tutti::test
