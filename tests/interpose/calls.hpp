#pragma once
// MPI's collectives by two names: those that the preloaded library serves, and MPI's own.

#include <mpi.h>

#include "form.hpp"

namespace tutti::test {

// NOLINTNEXTLINE(bugprone-macro-parentheses): names
#define TUTTI_TEST_COLLECTIVES(X) \
  X(Bcast)                        \
  X(Reduce)                       \
  X(Allreduce)                    \
  X(Scan)                         \
  X(Exscan)                       \
  X(Reduce_scatter)               \
  X(Reduce_scatter_block)         \
  X(Allgather) X(Allgatherv) X(Gather) X(Gatherv) X(Scatter) X(Scatterv) X(Alltoall) X(Alltoallv) X(Alltoallw)

// NOLINTBEGIN(bugprone-macro-parentheses): names
struct Calls {
#define TUTTI_TEST_MEMBER(name) decltype(&FORM(MPI_##name)) name;
  TUTTI_TEST_COLLECTIVES(TUTTI_TEST_MEMBER)
#undef TUTTI_TEST_MEMBER
};

/// By the program's names, and beneath everything that is preloaded.
#define TUTTI_TEST_MEMBER(name) FORM(MPI_##name),
inline const Calls served{TUTTI_TEST_COLLECTIVES(TUTTI_TEST_MEMBER)};
#undef TUTTI_TEST_MEMBER
#define TUTTI_TEST_MEMBER(name) FORM(PMPI_##name),
inline const Calls plain{TUTTI_TEST_COLLECTIVES(TUTTI_TEST_MEMBER)};
#undef TUTTI_TEST_MEMBER
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace tutti::test
