// Bad arguments: the same class of error as MPI's, the same handler called once, and nothing lost afterwards.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "form.hpp"
#include "tests/interpose/calls.hpp"
#include "tests/interpose/handled.hpp"
#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

class Errors : public testing::Test {
 protected:
  using Call = std::function<int(const Calls&, MPI_Comm)>;

  void SetUp() override {
    MPI_Comm_create_errhandler(note_error, &handler_);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted_);
    for (const MPI_Comm comm : {returns_.get(), MPI_COMM_WORLD, MPI_COMM_SELF})
      MPI_Comm_set_errhandler(comm, comm == returns_.get() ? MPI_ERRORS_RETURN : handler_);
    MPI_Comm_dup(MPI_COMM_WORLD, &notes_);
    MPI_Barrier(notes_);  // so that nonblocking calls are served, too
    MPI_Comm_set_errhandler(notes_, handler_);
  }
  void TearDown() override {
    for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&notes_);
    MPI_Errhandler_free(&handler_);
    MPI_Type_free(&uncommitted_);
  }

  /// A handler that returns, and one that notes; all ranks make the bad call.
  void same_error(const std::string& what, const Call& call) {
    const int expected = class_of(call(plain, returns_.get()));
    EXPECT_NE(expected, MPI_SUCCESS) << what << ": MPI finds nothing wrong, so the test shows nothing";
    EXPECT_EQ(class_of(call(served, returns_.get())), expected) << what;
    handled = {};
    EXPECT_EQ(class_of(call(plain, notes_)), expected) << what;
    const Handled by_mpi = std::exchange(handled, {});
    EXPECT_EQ(class_of(call(served, notes_)), expected) << what;
    EXPECT_EQ(handled.times, by_mpi.times) << what << ": calls of the handler";
    EXPECT_EQ(handled.last_class, by_mpi.last_class) << what;
    EXPECT_EQ(handled.comm, by_mpi.comm) << what << ": the handler of another communicator";
    works(what);
  }
  void works(const std::string& what) {
    for (const MPI_Comm comm : {returns_.get(), notes_}) {
      int sum = 0;
      const int one = 1;
      EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS) << what << ": afterwards";
      EXPECT_EQ(sum, size_of()) << what << ": afterwards";
    }
  }

  std::array<int, 64> in_{}, out_{};
  MPI_Datatype uncommitted_ = MPI_DATATYPE_NULL;

 private:
  ReturningComm returns_;
  MPI_Comm notes_ = MPI_COMM_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// MPICH 4.0 does not look at those of reductions: a negative one crashes there.
TEST_F(Errors, Counts) {
  same_error("bcast",
             [&](const Calls& calls, MPI_Comm comm) { return calls.Bcast(out_.data(), -1, MPI_INT, 0, comm); });
  same_error("allgather", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Allgather(in_.data(), 1, MPI_INT, out_.data(), -1, MPI_INT, comm);
  });
  same_error("gather", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Gather(in_.data(), -1, MPI_INT, out_.data(), 1, MPI_INT, 0, comm);
  });
  same_error("reduce_scatter", [&](const Calls& calls, MPI_Comm comm) {
    const std::vector<N> counts(static_cast<std::size_t>(size_of()), -1);
    return calls.Reduce_scatter(in_.data(), out_.data(), counts.data(), MPI_INT, MPI_SUM, comm);
  });
  same_error("alltoallv", [&](const Calls& calls, MPI_Comm comm) {
    const std::vector<N> counts(static_cast<std::size_t>(size_of()), -1);
    const std::vector<D> places(counts.size(), 0);
    return calls.Alltoallv(in_.data(), counts.data(), places.data(), MPI_INT, out_.data(), counts.data(), places.data(),
                           MPI_INT, comm);
  });
}

TEST_F(Errors, Roots) {
  for (const int root : {-1, size_of(), 1'000'000}) {
    const std::string name = " with root " + std::to_string(root);
    same_error("bcast" + name,
               [&](const Calls& calls, MPI_Comm comm) { return calls.Bcast(out_.data(), 1, MPI_INT, root, comm); });
    same_error("reduce" + name, [&](const Calls& calls, MPI_Comm comm) {
      return calls.Reduce(in_.data(), out_.data(), 1, MPI_INT, MPI_SUM, root, comm);
    });
    same_error("gather" + name, [&](const Calls& calls, MPI_Comm comm) {
      return calls.Gather(in_.data(), 1, MPI_INT, out_.data(), 1, MPI_INT, root, comm);
    });
    same_error("scatter" + name, [&](const Calls& calls, MPI_Comm comm) {
      return calls.Scatter(in_.data(), 1, MPI_INT, out_.data(), 1, MPI_INT, root, comm);
    });
  }
}

TEST_F(Errors, Types) {
  for (const MPI_Datatype type : {MPI_DATATYPE_NULL, uncommitted_}) {
    const std::string name = type == uncommitted_ ? " of an uncommitted type" : " of no type";
    same_error("bcast" + name,
               [&](const Calls& calls, MPI_Comm comm) { return calls.Bcast(out_.data(), 1, type, 0, comm); });
    same_error("allreduce" + name, [&](const Calls& calls, MPI_Comm comm) {
      return calls.Allreduce(in_.data(), out_.data(), 1, type, MPI_SUM, comm);
    });
    same_error("allgather" + name, [&](const Calls& calls, MPI_Comm comm) {
      return calls.Allgather(in_.data(), 1, type, out_.data(), 1, MPI_INT, comm);
    });
    same_error("alltoall" + name, [&](const Calls& calls, MPI_Comm comm) {
      return calls.Alltoall(in_.data(), 1, MPI_INT, out_.data(), 1, type, comm);
    });
  }
}

TEST_F(Errors, Operations) {
  const std::vector<std::pair<MPI_Op, MPI_Datatype>> wrong{
      {MPI_OP_NULL, MPI_INT}, {MPI_MAXLOC, MPI_INT},           {MPI_SUM, MPI_2INT},
      {MPI_BXOR, MPI_FLOAT},  {MPI_MAX, MPI_C_DOUBLE_COMPLEX}, {MPI_SUM, uncommitted_}};
  for (const auto& [op, type] : wrong) {
    same_error("allreduce", [&, op = op, type = type](const Calls& calls, MPI_Comm comm) {
      return calls.Allreduce(in_.data(), out_.data(), 1, type, op, comm);
    });
    same_error("scan", [&, op = op, type = type](const Calls& calls, MPI_Comm comm) {
      return calls.Scan(in_.data(), out_.data(), 1, type, op, comm);
    });
    same_error("reduce", [&, op = op, type = type](const Calls& calls, MPI_Comm comm) {
      return calls.Reduce(in_.data(), out_.data(), 1, type, op, size_of() - 1, comm);
    });
  }
}

TEST_F(Errors, Buffers) {
  same_error("allreduce into MPI_IN_PLACE", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Allreduce(in_.data(), MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm);
  });
  same_error("scan into MPI_IN_PLACE", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Scan(in_.data(), MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm);
  });
}

TEST_F(Errors, NoBuffers) {
  if (library_is("Open MPI")) GTEST_SKIP() << "Open MPI reads and writes at a null pointer";
  same_error("allreduce", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Allreduce(nullptr, out_.data(), 1, MPI_INT, MPI_SUM, comm);
  });
  same_error("bcast", [&](const Calls& calls, MPI_Comm comm) { return calls.Bcast(nullptr, 1, MPI_INT, 0, comm); });
  same_error("alltoall", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Alltoall(in_.data(), 1, MPI_INT, nullptr, 1, MPI_INT, comm);
  });
}

TEST_F(Errors, TheSameBufferTwice) {
  if (library_is("Open MPI")) GTEST_SKIP() << "Open MPI takes it";
  same_error("allreduce", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Allreduce(in_.data(), in_.data(), 1, MPI_INT, MPI_SUM, comm);
  });
  same_error("scan", [&](const Calls& calls, MPI_Comm comm) {
    return calls.Scan(in_.data(), in_.data(), 1, MPI_INT, MPI_SUM, comm);
  });
}

TEST_F(Errors, NoCommunicator) {
  handled = {};
  const int expected = class_of(plain.Bcast(out_.data(), 1, MPI_INT, 0, MPI_COMM_NULL));
  const Handled by_mpi = std::exchange(handled, {});
  EXPECT_EQ(class_of(served.Bcast(out_.data(), 1, MPI_INT, 0, MPI_COMM_NULL)), expected);
  EXPECT_EQ(handled.times, by_mpi.times);
  EXPECT_EQ(handled.last_class, by_mpi.last_class);
  works("bcast on no communicator");
}

}  // namespace
}  // namespace tutti::test
