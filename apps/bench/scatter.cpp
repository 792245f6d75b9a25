// Scatter and scatterv: the size is that of the root's input; outputs are blocks of it. In place on the root only,
// where the output is inside the input.
#include "tutti/scatter.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) {
  return detail::scatter_call(call.in, call.out, call.block(), call.type, call.root);
}

detail::Call describe_uneven(const Call& call) {
  return detail::scatterv_call(call.in, call.blocks->list(), call.out, call.block(), call.type, call.root);
}

Layout layout(const Call& call) {
  if (!call.is_root()) return {Count{0}, call.block(), std::nullopt};
  return {call.count, call.block(), Count{0} - call.blocks->offset(call.rank())};
}

std::vector<Piece> expected(const Call& call) {
  return {{Count{0}, call.block(), Values::input_of(call.root.value()), call.blocks->offset(call.rank())}};
}

/// In place it is the output that is not given.
void* output(const Call& call) { return call.is_in_place ? MPI_IN_PLACE : call.out; }

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Scatter", MPI_Scatter, MPI_Iscatter, mpi::persistent.scatter, call.in, a.block, a.type,
                   output(call), a.block, a.type, a.root);
}

PeerCall uneven_peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Scatterv", MPI_Scatterv, MPI_Iscatterv, mpi::persistent.scatterv, call.in,
                   call.blocks->mpi_counts(), call.blocks->mpi_offsets(), a.type, output(call), a.block, a.type,
                   a.root);
}

}  // namespace

const BenchCollective bench_scatter = {
    .name = "scatter",
    .collective = Collective::scatter,
    .divided = Divided::evenly,
    .busbw_factor = all_but_own_cross,
    .layout = layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
};

const BenchCollective bench_scatterv = {
    .name = "scatterv",
    .collective = Collective::scatter,
    .divided = Divided::unevenly,
    .busbw_factor = all_but_own_cross,
    .layout = layout,
    .algorithm = algorithm<describe_uneven>,
    .ours = ours<describe_uneven>,
    .peer = uneven_peer,
    .expected = expected,
};

}  // namespace tutti::bench
