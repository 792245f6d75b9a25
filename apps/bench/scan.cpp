// Scan and exscan: the size is that of the input, which is also that of the output, on each rank. Exscan leaves the
// output of rank 0 alone.
#include "tutti/scan.hpp"

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& call) { return detail::scan_call(call.in, call.out, call.count, call.type, call.op); }

detail::Call describe_exclusive(const Call& call) {
  return detail::exscan_call(call.in, call.out, call.count, call.type, call.op);
}

std::vector<Piece> expected(const Call& call) { return all_reduced(call, call.rank() + 1); }

std::vector<Piece> expected_exclusive(const Call& call) {
  if (call.rank() == 0) return {};
  return all_reduced(call, call.rank());
}

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Scan", MPI_Scan, MPI_Iscan, mpi::persistent.scan, a.in, a.out, a.count, a.type, a.op);
}

PeerCall exclusive_peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  return peer_call(mode, "MPI_Exscan", MPI_Exscan, MPI_Iexscan, mpi::persistent.exscan, a.in, a.out, a.count, a.type,
                   a.op);
}

}  // namespace

const BenchCollective bench_scan = {
    .name = "scan",
    .collective = Collective::scan,
    .busbw_factor = crosses_once,
    .layout = whole_layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
};

const BenchCollective bench_exscan = {
    .name = "exscan",
    .collective = Collective::exscan,
    .busbw_factor = crosses_once,
    .layout = whole_layout,
    .algorithm = algorithm<describe_exclusive>,
    .ours = ours<describe_exclusive>,
    .peer = exclusive_peer,
    .expected = expected_exclusive,
};

}  // namespace tutti::bench
