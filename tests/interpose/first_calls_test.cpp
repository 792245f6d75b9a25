// First uses: of a communicator by a nonblocking call, of types that few know; calls without data; users' functions.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

/// A nonblocking call is local, also if it is the first one on its communicator: rank 1 makes its own only when rank 0
/// has gone on.
TEST(First, NonblockingCallDoesNotWaitForOthers) {
  if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int token = 5;
  if (rank_in() == 1) MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Ibarrier(comm, &request);
  if (rank_in() == 0) MPI_Send(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
}

/// A call with wrong arguments is refused at once, and makes nothing known: the other ranks may make none.
TEST(First, RefusedCallDoesNotWaitForOthers) {
  if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  const ReturningComm comm;
  int token = 5, sum = 0;
  const int one = 1;
  if (rank_in() == 0) {
    EXPECT_NE(MPI_Allgather(&one, 1, MPI_INT, &sum, -1, MPI_INT, comm.get()), MPI_SUCCESS);
    MPI_Send(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
  } else if (rank_in() == 1) {
    MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(sum, size_of());
}

TEST(First, TypesThatFewKnow) {
  for (const MPI_Datatype type : {MPI_REAL16, MPI_COMPLEX32}) {
    if (type == MPI_DATATYPE_NULL) continue;
    std::array<unsigned char, 64> data{};
    int size = 0;
    MPI_Type_size(type, &size);
    if (size <= 0 || size > 32) continue;
    if (rank_in() == 0) data.fill(7);
    EXPECT_EQ(MPI_Bcast(data.data(), 2, type, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    for (int i = 0; i < 2 * size; ++i)
      EXPECT_EQ(data[static_cast<std::size_t>(i)], 7);
  }
}

/// The types of Fortran's kinds are MPI's own: nobody may free them.
TEST(First, TypesMadeOfTypesOfFortran) {
  if (library_is("Intel")) GTEST_SKIP() << "it may have no Fortran, and ends programs that ask";
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Datatype real = MPI_DATATYPE_NULL, three = MPI_DATATYPE_NULL;
  if (MPI_Type_create_f90_real(15, 307, &real) != MPI_SUCCESS) GTEST_SKIP() << "this MPI has no Fortran";
  MPI_Type_contiguous(3, real, &three);
  MPI_Type_commit(&three);
  std::array<double, 3> data{};
  for (int i = 0; i < 2; ++i) {
    if (rank_in() == 0) data.fill(i + 0.5);
    EXPECT_EQ(MPI_Bcast(data.data(), 1, three, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    for (const double value : data)
      EXPECT_EQ(value, i + 0.5);
  }
  MPI_Type_free(&three);
}

TEST(First, NoDataInPlace) {
  const ReturningComm comm;
  EXPECT_EQ(MPI_Allreduce(MPI_IN_PLACE, nullptr, 0, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(MPI_Scan(MPI_IN_PLACE, nullptr, 0, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
  EXPECT_EQ(MPI_Exscan(MPI_IN_PLACE, nullptr, 0, MPI_INT, MPI_SUM, comm.get()), MPI_SUCCESS);
}

std::atomic<int> elsewhere = 0;
std::thread::id main_thread;
// NOLINTNEXTLINE(readability-non-const-parameter): MPI's prototype has no const
void add(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  if (std::this_thread::get_id() != main_thread) ++elsewhere;
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

/// While a nonblocking call is under way, a thread of the library's moves it, but not the blocking calls beside it.
TEST(First, UsersFunctionsRunInTheirOwnThread) {
  main_thread = std::this_thread::get_id();
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  const int one = 1;
  int sum = 0;
  for (int round = 0; round < 50; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    int combined = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Allreduce(&one, &combined, 1, MPI_INT, op, MPI_COMM_WORLD);
    EXPECT_EQ(combined, size_of());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(sum, size_of());
  }
  MPI_Op_free(&op);
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
}  // namespace tutti::test
