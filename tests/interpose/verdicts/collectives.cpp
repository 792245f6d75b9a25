#include "tests/interpose/verdicts/collectives.hpp"

#include <algorithm>

namespace tutti::test {
namespace {

int remote_size(MPI_Comm comm) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

}  // namespace

Arguments::Arguments(MPI_Comm on, int remote_ranks) : comm(on) {
  const auto ranks = static_cast<std::size_t>(remote_ranks);
  in_counts.assign(ranks, block);
  out_counts.assign(ranks, block);
  in_types.assign(ranks, MPI_INT);
  out_types.assign(ranks, MPI_INT);
  for (int rank = 0; rank < remote_ranks; ++rank) {
    in_places.push_back(block * rank);
    out_places.push_back(block * (remote_ranks - 1 - rank));
    in_bytes.push_back(in_places.back() * static_cast<int>(sizeof(int)));
    out_bytes.push_back(out_places.back() * static_cast<int>(sizeof(int)));
  }
}

Arguments::Arguments(MPI_Comm on) : Arguments(on, remote_size(on)) {}

bool has_root(Collective which) {
  static constexpr std::array rooted{Collective::Bcast,   Collective::Reduce,  Collective::Gather,
                                     Collective::Gatherv, Collective::Scatter, Collective::Scatterv};
  return std::ranges::find(rooted, which) != rooted.end();
}

bool is_listed(Collective which) {
  static constexpr std::array listed{Collective::Reduce_scatter, Collective::Allgatherv, Collective::Gatherv,
                                     Collective::Scatterv,       Collective::Alltoallv,  Collective::Alltoallw};
  return std::ranges::find(listed, which) != listed.end();
}

int blocking(Collective which, const Arguments& a) {
  switch (which) {
#define TUTTI_VERDICT_CALL(Name, Iname, ...) \
  case Collective::Name:                     \
    return MPI_##Name(__VA_ARGS__ __VA_OPT__(, ) a.comm);
    TUTTI_VERDICT_COLLECTIVES(TUTTI_VERDICT_CALL)
#undef TUTTI_VERDICT_CALL
  }
  return MPI_ERR_INTERN;
}

int begin(Collective which, const Arguments& a, MPI_Request* request) {
  switch (which) {
#define TUTTI_VERDICT_CALL(Name, Iname, ...) \
  case Collective::Name:                     \
    return MPI_##Iname(__VA_ARGS__ __VA_OPT__(, ) a.comm, request);
    TUTTI_VERDICT_COLLECTIVES(TUTTI_VERDICT_CALL)
#undef TUTTI_VERDICT_CALL
  }
  return MPI_ERR_INTERN;
}

int prepare([[maybe_unused]] Collective which, [[maybe_unused]] const Arguments& a,
            [[maybe_unused]] MPI_Request* request) {
#if MPI_VERSION >= 4
  switch (which) {
#define TUTTI_VERDICT_CALL(Name, Iname, ...) \
  case Collective::Name:                     \
    return MPI_##Name##_init(__VA_ARGS__ __VA_OPT__(, ) a.comm, MPI_INFO_NULL, request);
    TUTTI_VERDICT_COLLECTIVES(TUTTI_VERDICT_CALL)
#undef TUTTI_VERDICT_CALL
  }
#endif
  return MPI_ERR_UNSUPPORTED_OPERATION;
}

int waited(Collective which, const Arguments& a) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int begun = begin(which, a, &request);
  return begun != MPI_SUCCESS ? begun : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

}  // namespace tutti::test
