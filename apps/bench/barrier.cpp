// Barrier: no data; the check is that no rank leaves before the last has come.
#include <chrono>
#include <thread>

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"
#include "tutti/barrier.hpp"

namespace tutti::bench {

namespace {

detail::Call describe(const Call& /*call*/) { return {.function = "barrier", .collective = Collective::barrier}; }

Layout layout(const Call& /*call*/) { return {}; }

std::vector<Piece> expected(const Call& /*call*/) { return {}; }

PeerCall peer(const Call& /*call*/, Mode mode) {
  return peer_call(mode, "MPI_Barrier", MPI_Barrier, MPI_Ibarrier, mpi::persistent.barrier);
}

/// Each rank is late once. Clocks can be compared on one node only.
std::int64_t left_too_early(const Call& call, Repeater& repeater) {
  using Clock = std::chrono::steady_clock;
  std::int64_t too_early = 0;
  for (int late = 0; late < call.ranks(); ++late) {
    if (call.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    auto came = static_cast<std::int64_t>(Clock::now().time_since_epoch().count());
    repeater.run(1);
    const auto left = static_cast<std::int64_t>(Clock::now().time_since_epoch().count());
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &came, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
    if (call.comm->node_count() == 1 && left < came) ++too_early;
  }
  return too_early;
}

}  // namespace

const BenchCollective bench_barrier = {
    .name = "barrier",
    .collective = Collective::barrier,
    .has_in_place = false,
    .has_data = false,
    .busbw_factor = crosses_once,
    .layout = layout,
    .algorithm = algorithm<describe>,
    .ours = ours<describe>,
    .peer = peer,
    .expected = expected,
    .misbehaviour = left_too_early,
};

}  // namespace tutti::bench
