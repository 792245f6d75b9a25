// Alltoall and alltoallv: the size is that of the input, which is also that of the output, on each rank. In alltoallv
// block j of rank i has the size of block i of rank j, as calls in place need it.
#include "tutti/alltoall.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) { return detail::alltoall_call(call.in, call.out, call.block(), call.type); }

detail::Call describe_uneven(const Call& call) {
  return detail::alltoallv_call(call.in, call.blocks->list(), call.out, call.blocks->list(), call.type);
}

template <Divided how>
std::vector<Piece> expected(const Call& call) {
  std::vector<Piece> pieces;
  for (int from = 0; from < call.ranks(); ++from) {
    const Division theirs{how, call.count, call.ranks(), from};
    pieces.push_back(
        {call.blocks->offset(from), call.blocks->count(from), Values::input_of(from), theirs.offset(call.rank())});
  }
  return pieces;
}

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Alltoall", MPI_Alltoall, MPI_Ialltoall, mpi::persistent.alltoall, a.in, a.block, a.type,
                   a.out, a.block, a.type);
}

PeerCall uneven_peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  const int *counts = call.blocks->mpi_counts(), *offsets = call.blocks->mpi_offsets();
  return peer_call(mode, "MPI_Alltoallv", MPI_Alltoallv, MPI_Ialltoallv, mpi::persistent.alltoallv, a.in, counts,
                   offsets, a.type, a.out, counts, offsets, a.type);
}

}  // namespace

const BenchCollective bench_alltoall = {
    .name = "alltoall",
    .collective = Collective::alltoall,
    .divided = Divided::evenly,
    .busbw_factor = all_but_own_cross,
    .layout = whole_layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected<Divided::evenly>,
};

const BenchCollective bench_alltoallv = {
    .name = "alltoallv",
    .collective = Collective::alltoall,
    .divided = Divided::unevenly_by_pair,
    .busbw_factor = all_but_own_cross,
    .layout = whole_layout,
    .algorithm = algorithm<describe_uneven>,
    .ours = ours<describe_uneven>,
    .peer = uneven_peer,
    .expected = expected<Divided::unevenly_by_pair>,
};

}  // namespace tutti::bench
