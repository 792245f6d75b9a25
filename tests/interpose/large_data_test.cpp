// More than a megabyte: other algorithms, and messages in pieces.
#include <vector>

#include "tests/interpose/memory.hpp"
#include "tests/interpose/reductions.hpp"

namespace tutti::test {
namespace {

constexpr int elements = 400'003;  // of a vector of two integers with a gap between them: 3.2 MB
constexpr std::size_t bytes = std::size_t{elements} * 12;

class LargeData : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Type_vector(2, 1, 2, MPI_INT, &apart_);
    MPI_Type_commit(&apart_);
  }
  void TearDown() override { MPI_Type_free(&apart_); }
  MPI_Datatype apart_ = MPI_DATATYPE_NULL;
};

TEST_F(LargeData, Bcast) {
  compare("bcast", 0, bytes, [&](const Calls& calls, void*, void* data) {
    return calls.Bcast(data, elements, apart_, size_of() - 1, MPI_COMM_WORLD);
  });
}

TEST_F(LargeData, AllgatherOfAnotherTypeThanIsSent) {
  const auto ranks = static_cast<std::size_t>(size_of());
  const int block = elements / size_of();
  compare("allgather", bytes, ranks * bytes, [&](const Calls& calls, void* in, void* out) {
    return calls.Allgather(in, 2 * block, MPI_INT, out, block, apart_, MPI_COMM_WORLD);
  });
}

TEST_F(LargeData, Alltoall) {
  const int block = elements / size_of();
  compare("alltoall", bytes, bytes, [&](const Calls& calls, void* in, void* out) {
    return calls.Alltoall(in, block, apart_, out, 2 * block, MPI_INT, MPI_COMM_WORLD);
  });
}

TEST_F(LargeData, GatherAndScatterInPlace) {
  const int block = elements / size_of();
  compare("gather", bytes, bytes, [&](const Calls& calls, void* in, void* out) {
    return calls.Gather(rank_in() == 0 ? MPI_IN_PLACE : in, block, apart_, out, block, apart_, 0, MPI_COMM_WORLD);
  });
  compare("scatter", bytes, bytes, [&](const Calls& calls, void* in, void* out) {
    return calls.Scatter(in, block, apart_, rank_in() == 0 ? MPI_IN_PLACE : out, block, apart_, 0, MPI_COMM_WORLD);
  });
}

TEST_F(LargeData, Reductions) {
  for (const NumberType& number : number_types()) {
    if (number.name != "MPI_INT" && number.name != "MPI_LONG_DOUBLE" && number.name != "MPI_DOUBLE_INT") continue;
    const MPI_Op op = number.name == "MPI_DOUBLE_INT" ? MPI_MAXLOC : MPI_SUM;
    const ReductionCase reduction{number.name, number, op, MPI_COMM_WORLD};
    compare_reduction(reduction, "allreduce", {elements, elements}, [&](const Calls& calls, void* in, void* out) {
      return calls.Allreduce(in, out, elements, number.type, op, MPI_COMM_WORLD);
    });
    compare_reduction(reduction, "scan", {elements, elements}, [&](const Calls& calls, void* in, void* out) {
      return calls.Scan(in, out, elements, number.type, op, MPI_COMM_WORLD);
    });
  }
}

}  // namespace
}  // namespace tutti::test
