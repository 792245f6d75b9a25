// Allreduce: the size is that of the input, which is also that of the output, on each rank.
#include "tutti/allreduce.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) {
  return detail::allreduce_call(call.in, call.out, call.count, call.type, call.op);
}

/// Each element crosses each link twice, but for its own rank's part.
double busbw_factor(int ranks) { return 2 * all_but_own_cross(ranks); }

std::vector<Piece> expected(const Call& call) { return all_reduced(call, call.ranks()); }

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Allreduce", MPI_Allreduce, MPI_Iallreduce, mpi::persistent.allreduce, a.in, a.out,
                   a.count, a.type, a.op);
}

}  // namespace

const BenchCollective bench_allreduce = {
    .name = "allreduce",
    .collective = Collective::allreduce,
    .busbw_factor = busbw_factor,
    .layout = whole_layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
};

}  // namespace tutti::bench
