// Allgather and allgatherv: the size is that of the output on each rank; the input is this rank's block of it, in place
// as apart.
#include "tutti/allgather.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) { return detail::allgather_call(call.in, call.out, call.block(), call.type); }

detail::Call describe_uneven(const Call& call) {
  return detail::allgatherv_call(call.in, call.out, call.blocks->list(), call.type);
}

Layout layout(const Call& call) { return {call.block(), call.count, call.blocks->offset(call.rank())}; }

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Allgather", MPI_Allgather, MPI_Iallgather, mpi::persistent.allgather, a.in, a.block,
                   a.type, a.out, a.block, a.type);
}

PeerCall uneven_peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Allgatherv", MPI_Allgatherv, MPI_Iallgatherv, mpi::persistent.allgatherv, a.in, a.block,
                   a.type, a.out, call.blocks->mpi_counts(), call.blocks->mpi_offsets(), a.type);
}

}  // namespace

const BenchCollective bench_allgather = {
    .name = "allgather",
    .collective = Collective::allgather,
    .divided = Divided::evenly,
    .busbw_factor = all_but_own_cross,
    .layout = layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = all_gathered,
};

const BenchCollective bench_allgatherv = {
    .name = "allgatherv",
    .collective = Collective::allgather,
    .divided = Divided::unevenly,
    .busbw_factor = all_but_own_cross,
    .layout = layout,
    .algorithm = algorithm<describe_uneven>,
    .ours = ours<describe_uneven>,
    .peer = uneven_peer,
    .expected = all_gathered,
};

}  // namespace tutti::bench
