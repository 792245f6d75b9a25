// Gather and gatherv: the size is that of the root's output; inputs are blocks of it. In place on the root only.
#include "tutti/gather.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) {
  return detail::gather_call(call.in, call.out, call.block(), call.type, call.root);
}

detail::Call describe_uneven(const Call& call) {
  return detail::gatherv_call(call.in, call.block(), call.out, call.blocks->list(), call.type, call.root);
}

Layout layout(const Call& call) {
  if (!call.is_root()) return {call.block(), Count{0}, std::nullopt};
  return {call.block(), call.count, call.blocks->offset(call.rank())};
}

std::vector<Piece> expected(const Call& call) {
  if (!call.is_root()) return {};
  return all_gathered(call);
}

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Gather", MPI_Gather, MPI_Igather, mpi::persistent.gather, a.in, a.block, a.type, a.out,
                   a.block, a.type, a.root);
}

PeerCall uneven_peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Gatherv", MPI_Gatherv, MPI_Igatherv, mpi::persistent.gatherv, a.in, a.block, a.type,
                   a.out, call.blocks->mpi_counts(), call.blocks->mpi_offsets(), a.type, a.root);
}

}  // namespace

const BenchCollective bench_gather = {
    .name = "gather",
    .collective = Collective::gather,
    .divided = Divided::evenly,
    .busbw_factor = all_but_own_cross,
    .layout = layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
};

const BenchCollective bench_gatherv = {
    .name = "gatherv",
    .collective = Collective::gather,
    .divided = Divided::unevenly,
    .busbw_factor = all_but_own_cross,
    .layout = layout,
    .algorithm = algorithm<describe_uneven>,
    .ours = ours<describe_uneven>,
    .peer = uneven_peer,
    .expected = expected,
};

}  // namespace tutti::bench
