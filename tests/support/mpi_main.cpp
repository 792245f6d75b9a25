// Runs a suite on all ranks. Rank 0 reports; other ranks report only failures.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/support/suites.hpp"

namespace {

/// TUTTI_TEST_THREAD_LEVEL: single or funneled; else as many threads as MPI allows.
int wanted_thread_level() {
  const char* const given = std::getenv("TUTTI_TEST_THREAD_LEVEL");
  const std::string_view name = given == nullptr ? "" : given;
  if (name == "single") return MPI_THREAD_SINGLE;
  return name == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
}

class FailuresOnly : public testing::EmptyTestEventListener {
 public:
  explicit FailuresOnly(int rank) : rank_(rank) {}
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_, result.file_name(), result.line_number(), result.message());
  }

 private:
  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  tutti::test::select_suites(argc, argv);
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, wanted_thread_level(), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly(rank));
  }
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
