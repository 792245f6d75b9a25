#pragma once
// Every collective by one set of arguments, of which a check makes some wrong or odd.

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "tests/interpose/verdicts/verdicts.hpp"

namespace tutti::test {

/// Three integers for each rank, from `sent` to `received`. Rooted calls have rank 0 as root.
struct Arguments {
  static constexpr int block = 3;

  Arguments(MPI_Comm on, int remote_ranks);
  /// On an intra-communicator.
  explicit Arguments(MPI_Comm on);

  Room sent{1}, received{2};
  const void* in = sent.at();
  void* out = received.at();
  int in_count = block, out_count = block, root = 0;
  MPI_Datatype in_type = MPI_INT, out_type = MPI_INT;  ///< Reductions take the first, a broadcast the second.
  MPI_Op op = MPI_SUM;
  MPI_Comm comm;
  std::vector<int> in_counts, out_counts, in_places, out_places, in_bytes, out_bytes;
  std::vector<MPI_Datatype> in_types, out_types;
};

// NOLINTBEGIN(bugprone-macro-parentheses): names
#define TUTTI_VERDICT_COLLECTIVES(X)                                                                                   \
  X(Barrier, Ibarrier)                                                                                                 \
  X(Bcast, Ibcast, a.out, a.out_count, a.out_type, a.root)                                                             \
  X(Reduce, Ireduce, a.in, a.out, a.in_count, a.in_type, a.op, a.root)                                                 \
  X(Allreduce, Iallreduce, a.in, a.out, a.in_count, a.in_type, a.op)                                                   \
  X(Scan, Iscan, a.in, a.out, a.in_count, a.in_type, a.op)                                                             \
  X(Exscan, Iexscan, a.in, a.out, a.in_count, a.in_type, a.op)                                                         \
  X(Reduce_scatter, Ireduce_scatter, a.in, a.out, a.out_counts.data(), a.in_type, a.op)                                \
  X(Reduce_scatter_block, Ireduce_scatter_block, a.in, a.out, a.in_count, a.in_type, a.op)                             \
  X(Allgather, Iallgather, a.in, a.in_count, a.in_type, a.out, a.out_count, a.out_type)                                \
  X(Allgatherv, Iallgatherv, a.in, a.in_count, a.in_type, a.out, a.out_counts.data(), a.out_places.data(), a.out_type) \
  X(Gather, Igather, a.in, a.in_count, a.in_type, a.out, a.out_count, a.out_type, a.root)                              \
  X(Gatherv, Igatherv, a.in, a.in_count, a.in_type, a.out, a.out_counts.data(), a.out_places.data(), a.out_type,       \
    a.root)                                                                                                            \
  X(Scatter, Iscatter, a.in, a.in_count, a.in_type, a.out, a.out_count, a.out_type, a.root)                            \
  X(Scatterv, Iscatterv, a.in, a.in_counts.data(), a.in_places.data(), a.in_type, a.out, a.out_count, a.out_type,      \
    a.root)                                                                                                            \
  X(Alltoall, Ialltoall, a.in, a.in_count, a.in_type, a.out, a.out_count, a.out_type)                                  \
  X(Alltoallv, Ialltoallv, a.in, a.in_counts.data(), a.in_places.data(), a.in_type, a.out, a.out_counts.data(),        \
    a.out_places.data(), a.out_type)                                                                                   \
  X(Alltoallw, Ialltoallw, a.in, a.in_counts.data(), a.in_bytes.data(), a.in_types.data(), a.out, a.out_counts.data(), \
    a.out_bytes.data(), a.out_types.data())

enum class Collective : std::size_t {
#define TUTTI_VERDICT_NAME(Name, Iname, ...) Name,
  TUTTI_VERDICT_COLLECTIVES(TUTTI_VERDICT_NAME)
#undef TUTTI_VERDICT_NAME
};
inline constexpr std::array names{
#define TUTTI_VERDICT_NAME(Name, Iname, ...) #Name,
    TUTTI_VERDICT_COLLECTIVES(TUTTI_VERDICT_NAME)
#undef TUTTI_VERDICT_NAME
};
// NOLINTEND(bugprone-macro-parentheses)

inline const char* name_of(Collective which) { return names.at(static_cast<std::size_t>(which)); }

/// `use(collective)` for each.
template <class Use>
void for_all_collectives(const Use& use) {
  for (std::size_t i = 0; i < names.size(); ++i)
    use(static_cast<Collective>(i));
}

inline bool is_reduction(Collective which) {
  return which >= Collective::Reduce && which <= Collective::Reduce_scatter_block;
}
bool has_root(Collective which);
/// Whether the name ends in v or w.
bool is_listed(Collective which);

int blocking(Collective which, const Arguments& a);
int begin(Collective which, const Arguments& a, MPI_Request* request);
/// MPI_..._init, or MPI_ERR_UNSUPPORTED_OPERATION before MPI 4.
int prepare(Collective which, const Arguments& a, MPI_Request* request);
/// By begin, and MPI_Wait if it began.
int waited(Collective which, const Arguments& a);

}  // namespace tutti::test
