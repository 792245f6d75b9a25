// Ranks that pass different counts: MPI_ERR_TRUNCATE, and other communicators go on.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>

#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

/// The last rank expects less than there is.
int own_count() { return rank_in() == size_of() - 1 ? 3 : 7; }

class Truncation : public testing::Test {
 protected:
  void expect_truncated(int code, const std::string& part) {
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
    if (library_is("MPICH")) return;  // it gives no texts to codes of its own classes
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    EXPECT_NE(std::string(text.data()).find(part), std::string::npos) << text.data();
  }
  static void expect_usable(MPI_Comm comm) {
    int sum = 0;
    const int one = 1;
    EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
    EXPECT_EQ(sum, size_of());
  }
  /// Codes of calls in which the first rank alone found something wrong.
  void expect_truncated_on_first(std::initializer_list<int> codes) {
    for (const int code : codes)
      if (rank_in() == 0)
        expect_truncated(code, "this rank sends itself ");
      else
        EXPECT_EQ(code, MPI_SUCCESS);
    expect_usable(comm_.get());
  }
  void TearDown() override { expect_usable(MPI_COMM_WORLD); }
  ReturningComm comm_;
  std::array<int, 8> in_{}, out_{};
};

TEST_F(Truncation, OfAllreduce) {
  expect_truncated(MPI_Allreduce(in_.data(), out_.data(), own_count(), MPI_INT, MPI_SUM, comm_.get()), "3 MPI_INT");
}

TEST_F(Truncation, OfBcast) {
  const int code = MPI_Bcast(out_.data(), own_count(), MPI_INT, 0, comm_.get());
  if (rank_in() == size_of() - 1) expect_truncated(code, "3 MPI_INT");
}

/// Only the root sees it: the others send what they should.
TEST_F(Truncation, OfTheRootsOwnPart) {
  const bool is_first = rank_in() == 0;
  const int gathered = MPI_Gather(in_.data(), is_first ? 3 : 2, MPI_INT, out_.data(), 2, MPI_INT, 0, comm_.get());
  const int scattered = MPI_Scatter(in_.data(), 2, MPI_INT, out_.data(), is_first ? 1 : 2, MPI_INT, 0, comm_.get());
  expect_truncated_on_first({gathered, scattered});
}

/// The others expect two from each rank, and get the one that there is.
TEST_F(Truncation, OfOwnBlockOfAllgather) {
  const int sent = rank_in() == 0 ? 1 : 2;
  in_ = {rank_in() + 1, rank_in() + 1};
  const int code = MPI_Allgather(in_.data(), sent, MPI_INT, out_.data(), 2, MPI_INT, comm_.get());
  expect_truncated_on_first({code});
  for (int rank = 0; rank < size_of(); ++rank)
    EXPECT_EQ(out_[2 * static_cast<std::size_t>(rank)], rank + 1);
}

void throw_code(MPI_Comm* /*comm*/, int* code, ...) { throw *code; }  // NOLINT(cert-dcl50-cpp): as MPI wants it

/// A program in C++ may leave a call by an exception of its handler.
TEST_F(Truncation, ToldByAnException) {
  if (!library_is("Open MPI")) GTEST_SKIP() << "exceptions pass through Open MPI";
  MPI_Errhandler throws = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(throw_code, &throws);
  MPI_Comm_set_errhandler(comm_.get(), throws);
  int told = MPI_SUCCESS;
  try {
    MPI_Allgather(in_.data(), rank_in() == 0 ? 1 : 2, MPI_INT, out_.data(), 2, MPI_INT, comm_.get());
  } catch (const int code) {
    told = code;
  }
  EXPECT_EQ(class_of(told), rank_in() == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
  MPI_Errhandler_free(&throws);
  expect_usable(comm_.get());
}

/// Only one rank sees it.
TEST_F(Truncation, OfOwnBlocksOfAlltoall) {
  const bool is_first = rank_in() == 0;
  const std::array<int, 2> twos{2, 2}, places{0, 2}, received{is_first ? 1 : 2, 2};
  const int even = MPI_Alltoall(in_.data(), 2, MPI_INT, out_.data(), is_first ? 1 : 2, MPI_INT, comm_.get());
  const int listed = MPI_Alltoallv(in_.data(), twos.data(), places.data(), MPI_INT, out_.data(), received.data(),
                                   places.data(), MPI_INT, comm_.get());
  expect_truncated_on_first({even, listed});
}

}  // namespace
}  // namespace tutti::test
