// Calls that send from the memory that they receive into. The standard forbids it; Open MPI takes it, and so programs
// do it.
#include <gtest/gtest.h>

#include <array>

#include "tests/interpose/memory.hpp"

namespace tutti::test {
namespace {

constexpr int count = 6;
constexpr std::size_t room = 8 * count * sizeof(int);

class Aliases : public testing::Test {
 protected:
  void SetUp() override {
    if (!library_is("Open MPI")) GTEST_SKIP() << "only Open MPI takes the same buffer twice";
  }
  /// This rank's block of a buffer with one for each rank.
  static std::byte* own_block(std::byte* data) {
    return data + static_cast<std::size_t>(rank_in()) * count * sizeof(int);
  }
};

TEST_F(Aliases, OfTheOwnBlock) {
  compare("allgather", 0, room, [](const Calls& calls, void*, std::byte* data) {
    return calls.Allgather(own_block(data), count, MPI_INT, data, count, MPI_INT, MPI_COMM_WORLD);
  });
  for (int root = 0; root < size_of(); ++root) {
    compare("gather", 0, room, [&](const Calls& calls, void*, std::byte* data) {
      return calls.Gather(own_block(data), count, MPI_INT, data, count, MPI_INT, root, MPI_COMM_WORLD);
    });
    compare("scatter", 0, room, [&](const Calls& calls, void*, std::byte* data) {
      return calls.Scatter(data, count, MPI_INT, own_block(data), count, MPI_INT, root, MPI_COMM_WORLD);
    });
  }
}

TEST_F(Aliases, OfTheWholeBuffer) {
  compare("allreduce of one element", 0, room, [](const Calls& calls, void*, std::byte* data) {
    return calls.Allreduce(data, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  compare("allreduce of several elements, which Open MPI refuses", 0, room,
          [&](const Calls& calls, void*, std::byte* data) {
            return calls.Allreduce(data, data, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
          });
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  compare("scan", 0, room, [](const Calls& calls, void*, std::byte* data) {
    return calls.Scan(data, data, count, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  });
  compare("gather to where the first rank sends from", 0, room, [](const Calls& calls, void*, std::byte* data) {
    return calls.Gather(data, count, MPI_INT, data, count, MPI_INT, 0, MPI_COMM_WORLD);
  });
}

/// With every MPI: the root's call is an error, of which the other ranks learn nothing.
TEST(AliasesOfReduce, AreAnErrorOfTheRoot) {
  const ReturningComm comm;
  const std::array<int, count> in{};
  std::array<int, count> out{1, 2, 3};
  for (int root = 0; root < size_of(); ++root) {
    const bool at_root = rank_in() == root;
    const int code =
        MPI_Reduce(at_root ? out.data() : in.data(), out.data(), count, MPI_INT, MPI_SUM, root, comm.get());
    EXPECT_EQ(class_of(code), !at_root ? MPI_SUCCESS : library_is("Open MPI") ? MPI_ERR_ARG : MPI_ERR_BUFFER);
    EXPECT_EQ(out, (std::array<int, count>{1, 2, 3}));
    int sum = 0;
    const int one = 1;
    EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
    EXPECT_EQ(sum, size_of());
  }
}

}  // namespace
}  // namespace tutti::test
