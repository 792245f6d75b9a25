// Settings that each process takes from its own environment: if one rank cannot do as they say, all ranks are told, and
// none waits for it. Each case is for a process of its own, as they are read once.
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

/// The last rank alone has the setting.
void expect_told_to_all(const char* name, const char* value) {
  const int last = world_size() - 1;
  if (world_rank() == last) setenv(name, value, 1);
  for (int i = 0; i < 2; ++i)  // no later one is made either
    expect_throw<ArgumentError>([] { const Communicator comm{MPI_COMM_WORLD}; },
                                {"rank " + std::to_string(last), name, value, "allowed"});
}

TEST(OwnSettings, LogFileThatCannotBeWritten) { expect_told_to_all("TUTTI_LOG_FILE", "/no/folder/of/that/name/log"); }

TEST(OwnSettings, ProgressThread) { expect_told_to_all("TUTTI_PROGRESS_THREAD", "yes"); }

TEST(OwnSettings, UcxWatch) { expect_told_to_all("TUTTI_UCX_WATCH", "sometimes"); }

}  // namespace
}  // namespace tutti::test
