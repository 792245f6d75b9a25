// Reduce: the size is that of the input on each rank, which is that of the root's output. In place on the root only.
#include "tutti/reduce.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) {
  return detail::reduce_call(call.in, call.out, call.count, call.type, call.op, call.root);
}

Layout layout(const Call& call) {
  if (call.is_root()) return whole_layout(call);
  return {call.count, Count{0}, std::nullopt};
}

std::vector<Piece> expected(const Call& call) {
  if (!call.is_root()) return {};
  return all_reduced(call, call.ranks());
}

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Reduce", MPI_Reduce, MPI_Ireduce, mpi::persistent.reduce, a.in, a.out, a.count, a.type,
                   a.op, a.root);
}

}  // namespace

const BenchCollective bench_reduce = {
    .name = "reduce",
    .collective = Collective::reduce,
    .busbw_factor = crosses_once,
    .layout = layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
};

}  // namespace tutti::bench
