// With TUTTI_BITS=fixed, the reductions of a program that knows nothing of Tutti have the bits of the folded tree of
// ranks, which is computed here from the inputs of all ranks; those of scans, the ranks one after the other.
#include <gtest/gtest.h>
#include <mpi.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace {

using Numbers = std::vector<double>;
using Combine = std::function<double(double, double)>;

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// Numbers of many magnitudes, of which every order has another sum.
Numbers numbers(int rank, int count) {
  std::mt19937 random{static_cast<unsigned>(100 * rank + count)};
  std::uniform_real_distribution<double> digits{-1, 1};
  Numbers data;
  for (int i = 0; i < count; ++i)
    data.push_back(std::ldexp(digits(random), static_cast<int>(random() % 40) - 20));
  return data;
}

double sum_of(double a, double b) { return a + b; }

/// The first ranks pair up until a power of two is left, then all do.
Numbers folded(int count, int ranks, const Combine& combine = sum_of) {
  std::vector<Numbers> row;
  for (int rank = 0; rank < ranks; ++rank)
    row.push_back(numbers(rank, count));
  const auto join = [&](std::size_t place) {
    for (std::size_t i = 0; i < row[place].size(); ++i)
      row[place][i] = combine(row[place][i], row[place + 1][i]);
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  };
  for (std::size_t place = 0; !std::has_single_bit(row.size()); ++place)
    join(place);
  while (row.size() > 1)
    for (std::size_t place = 0; place < row.size(); ++place)
      join(place);
  return row[0];
}

Numbers in_turn(int count, int last) {
  Numbers sum = numbers(0, count);
  for (int rank = 1; rank <= last; ++rank) {
    const Numbers next = numbers(rank, count);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += next[i];
  }
  return sum;
}

bool same(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}
Numbers part(const Numbers& of, std::size_t first, std::size_t count) {
  const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

class FixedBits : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Counts, FixedBits, testing::Values(1, 7, 1000, 70'001));

TEST_P(FixedBits, OfBlockingCalls) {
  const int count = GetParam(), size = size_of(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  const auto length = static_cast<std::size_t>(count);
  const Numbers in = numbers(rank, count), wanted = folded(count, size);
  Numbers out(length);
  MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_TRUE(same(out, wanted)) << "allreduce";
  out = in;
  MPI_Allreduce(MPI_IN_PLACE, out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_TRUE(same(out, wanted)) << "allreduce in place";
  for (int root = 0; root < size; ++root) {
    out.assign(length, 0);
    MPI_Reduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    EXPECT_TRUE(rank != root || same(out, wanted)) << "reduce to rank " << root;
  }
  MPI_Scan(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_TRUE(same(out, in_turn(count, rank))) << "scan";
  MPI_Exscan(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_TRUE(rank == 0 || same(out, in_turn(count, rank - 1))) << "exscan";
}

TEST_P(FixedBits, OfBlocks) {
  const int count = GetParam(), size = size_of(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  const int all = count * size;
  const Numbers in = numbers(rank, all), wanted = folded(all, size);
  const auto length = static_cast<std::size_t>(count);
  Numbers out(length);
  MPI_Reduce_scatter_block(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_TRUE(same(out, part(wanted, length * static_cast<std::size_t>(rank), length))) << "even blocks";
  // All elements but one for the last rank.
  std::vector<int> counts(static_cast<std::size_t>(size), 0);
  counts[0] = 1;
  counts.back() += all - 1;
  out.assign(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]), 0);
  MPI_Reduce_scatter(in.data(), out.data(), counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_TRUE(same(out, part(wanted, rank == 0 ? 0 : 1, out.size()))) << "uneven blocks";
}

/// Completes a request, which persistent calls start.
void complete(MPI_Request& request, bool is_persistent) {
  if (is_persistent) MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (is_persistent) MPI_Request_free(&request);
}

TEST_P(FixedBits, OfNonblockingCalls) {
  const int count = GetParam(), size = size_of(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  const Numbers in = numbers(rank, count), wanted = folded(count, size);
  Numbers out(in.size()), reduced(in.size()), prefix(in.size());
  MPI_Request request = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL, third = MPI_REQUEST_NULL;
  MPI_Iallreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Ireduce(in.data(), reduced.data(), count, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD, &other);
  MPI_Iscan(in.data(), prefix.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &third);
  for (MPI_Request* each : {&request, &other, &third})
    complete(*each, false);
  EXPECT_TRUE(same(out, wanted)) << "allreduce";
  EXPECT_TRUE(rank != size - 1 || same(reduced, wanted)) << "reduce";
  EXPECT_TRUE(same(prefix, in_turn(count, rank))) << "scan";
#if MPI_VERSION >= 4
  out.assign(in.size(), 0);
  MPI_Allreduce_init(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  complete(request, true);
  EXPECT_TRUE(same(out, wanted)) << "persistent allreduce";
#endif
}

/// The first call on a communicator is served already; the tree is that of its ranks.
TEST_P(FixedBits, OfTheFirstCallOnACommunicator) {
  const int count = GetParam(), size = size_of(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm twin = MPI_COMM_NULL, lower = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  const Numbers in = numbers(rank, count);
  Numbers out(in.size());
  MPI_Reduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, 0, twin);
  EXPECT_TRUE(rank != 0 || same(out, folded(count, size)));
  MPI_Comm_free(&twin);
  const int members = (size + 1) / 2;
  MPI_Comm_split(MPI_COMM_WORLD, rank < members ? 0 : MPI_UNDEFINED, rank, &lower);
  if (lower == MPI_COMM_NULL) return;
  MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, MPI_SUM, lower);
  EXPECT_TRUE(same(out, folded(count, members)));
  MPI_Comm_free(&lower);
}

double weighted(double a, double b) { return a * 0.75 + b; }

// NOLINTNEXTLINE(readability-non-const-parameter): as MPI wants it
void combine_weighted(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *length; ++i)
    static_cast<double*>(inout)[i] = weighted(static_cast<double*>(in)[i], static_cast<double*>(inout)[i]);
}

/// Its operands keep their sides, though it says that they may change them.
TEST_P(FixedBits, OfAnOperationOfTheProgram) {
  const int count = GetParam(), size = size_of(MPI_COMM_WORLD);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(combine_weighted, 1, &op);
  const Numbers in = numbers(rank_in(MPI_COMM_WORLD), count);
  Numbers out(in.size());
  MPI_Allreduce(in.data(), out.data(), count, MPI_DOUBLE, op, MPI_COMM_WORLD);
  EXPECT_TRUE(same(out, folded(count, size, weighted)));
  MPI_Op_free(&op);
}

}  // namespace
