// Broadcast: the size is that of the root's data. One buffer on each rank, as MPI has it: in place only.
#include "tutti/broadcast.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) {
  return detail::broadcast_call(call.out, call.out, call.count, call.type, call.root);
}

Layout layout(const Call& call) { return {call.is_root() ? call.count : Count{0}, call.count, Count{0}}; }

std::vector<Piece> expected(const Call& call) { return {{Count{0}, call.count, Values::input_of(call.root.value())}}; }

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Bcast", MPI_Bcast, MPI_Ibcast, mpi::persistent.bcast, a.out, a.count, a.type, a.root);
}

}  // namespace

const BenchCollective bench_broadcast = {
    .name = "broadcast",
    .collective = Collective::broadcast,
    .has_out_of_place = false,
    .busbw_factor = crosses_once,
    .layout = layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
};

}  // namespace tutti::bench
