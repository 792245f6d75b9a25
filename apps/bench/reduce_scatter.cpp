// Reduce-scatter: the size is that of the input on each rank; the output is one block of it. In place the output is at
// the start of the input.
#include "tutti/reduce_scatter.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) {
  return detail::reduce_scatter_call(call.in, call.out, call.block(), call.type, call.op);
}

Layout layout(const Call& call) { return {call.count, call.block(), Count{0}}; }

std::vector<Piece> expected(const Call& call) {
  return {{Count{0}, call.block(), Values::reduced_over(call.ranks()), call.blocks->offset(call.rank())}};
}

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Reduce_scatter_block", MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                   mpi::persistent.reduce_scatter_block, a.in, a.out, a.block, a.type, a.op);
}

}  // namespace

const BenchCollective bench_reduce_scatter = {
    .name = "reduce_scatter",
    .collective = Collective::reduce_scatter,
    .divided = Divided::evenly,
    .busbw_factor = all_but_own_cross,
    .layout = layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
};

}  // namespace tutti::bench
