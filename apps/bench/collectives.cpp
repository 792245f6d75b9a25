// The table of collectives.
#include <array>

#include "apps/bench/calls.hpp"
#include "tutti/tutti.hpp"

namespace tutti::bench {

namespace {

template <class Describe, class Peer>
constexpr BenchCollective entry(std::string_view name, Collective collective, Divided divided, Describe /*describe*/,
                                Peer /*peer*/) {
  return {name, collective, divided, algorithm<Describe>, ours<Describe>, [](const Call& call, Mode mode) {
            return Peer{}(MpiArguments{call}, {mode, call.mpi, call.computation});
          }};
}

/// In place it is the output that scatter is not given.
void* output_of_scatter(const MpiArguments& a) { return a.call.is_in_place ? MPI_IN_PLACE : a.out; }

std::unique_ptr<Repeater> our_sendrecv(const Call& call, Mode mode) {
  if (mode == Mode::blocking)
    return repeater([c = call] { sendrecv(c.in, c.count, c.next(), c.out, c.count, c.previous(), c.type, *c.comm); });
  if (mode == Mode::nonblocking)
    return repeater([c = call] {
      Request request = sendrecv_async(c.in, c.count, c.next(), c.out, c.count, c.previous(), c.type, *c.comm);
      compute(c.computation);
      request.wait();
    });
  return repeater_of(
      plan_sendrecv(call.in, call.count, call.next(), call.out, call.count, call.previous(), call.type, *call.comm),
      call.computation);
}

PeerCall peer_sendrecv(const Call& call, Mode mode) {
  const MpiArguments a{call};
  const int to = call.next().value(), from = call.previous().value();
  if (mode == Mode::blocking) {
    return {repeater([a, to, from, comm = call.mpi] {
              mpi::check(
                  MPI_Sendrecv(a.in, a.count, a.type, to, 0, a.out, a.count, a.type, from, 0, comm, MPI_STATUS_IGNORE),
                  "MPI_Sendrecv");
            }),
            mode};
  }
  if (mode == Mode::nonblocking) {
    return {repeater([a, to, from, comm = call.mpi, computation = call.computation] {
              std::array<MPI_Request, 2> requests{};
              auto& [receiving, sending] = requests;
              mpi::check(MPI_Irecv(a.out, a.count, a.type, from, 0, comm, &receiving), "MPI_Irecv");
              mpi::check(MPI_Isend(a.in, a.count, a.type, to, 0, comm, &sending), "MPI_Isend");
              compute(computation);
              mpi::check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
            }),
            mode};
  }
  MPI_Request receiving = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
  mpi::check(MPI_Recv_init(a.out, a.count, a.type, from, 0, call.mpi, &receiving), "MPI_Recv_init");
  mpi::check(MPI_Send_init(a.in, a.count, a.type, to, 0, call.mpi, &sending), "MPI_Send_init");
  return {repeater([prepared = MpiRequests{{receiving, sending}}, computation = call.computation]() mutable {
            prepared.start_and_wait(computation);
          }),
          mode};
}

using enum Collective;
using enum Divided;
using Arguments = const MpiArguments&;
using Ours = const Call&;
constexpr const auto& init = mpi::persistent;
constexpr std::array table = {
    entry(
        "barrier", barrier, not_at_all,
        [](Ours) -> detail::Call { return {.function = "barrier", .collective = barrier}; },
        [](Arguments, Manner m) { return peer_call(m, "MPI_Barrier", MPI_Barrier, MPI_Ibarrier, init.barrier); }),
    entry(
        "broadcast", broadcast, not_at_all,
        [](Ours c) { return detail::broadcast_call(c.out, c.out, c.count, c.type, c.root); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Bcast", MPI_Bcast, MPI_Ibcast, init.bcast, a.out, a.count, a.type, a.root);
        }),
    entry(
        "reduce", reduce, not_at_all,
        [](Ours c) { return detail::reduce_call(c.in, c.out, c.count, c.type, c.op, c.root); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Reduce", MPI_Reduce, MPI_Ireduce, init.reduce, a.in, a.out, a.count, a.type, a.op,
                           a.root);
        }),
    entry(
        "allreduce", allreduce, not_at_all,
        [](Ours c) { return detail::allreduce_call(c.in, c.out, c.count, c.type, c.op); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Allreduce", MPI_Allreduce, MPI_Iallreduce, init.allreduce, a.in, a.out, a.count,
                           a.type, a.op);
        }),
    entry(
        "reduce_scatter", reduce_scatter, evenly,
        [](Ours c) { return detail::reduce_scatter_call(c.in, c.out, c.block(), c.type, c.op); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Reduce_scatter_block", MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                           init.reduce_scatter_block, a.in, a.out, a.block, a.type, a.op);
        }),
    entry(
        "allgather", allgather, evenly, [](Ours c) { return detail::allgather_call(c.in, c.out, c.block(), c.type); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Allgather", MPI_Allgather, MPI_Iallgather, init.allgather, a.in, a.block, a.type,
                           a.out, a.block, a.type);
        }),
    entry(
        "gather", gather, evenly, [](Ours c) { return detail::gather_call(c.in, c.out, c.block(), c.type, c.root); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Gather", MPI_Gather, MPI_Igather, init.gather, a.in, a.block, a.type, a.out, a.block,
                           a.type, a.root);
        }),
    entry(
        "scatter", scatter, evenly, [](Ours c) { return detail::scatter_call(c.in, c.out, c.block(), c.type, c.root); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Scatter", MPI_Scatter, MPI_Iscatter, init.scatter, a.call.in, a.block, a.type,
                           output_of_scatter(a), a.block, a.type, a.root);
        }),
    entry(
        "alltoall", alltoall, evenly, [](Ours c) { return detail::alltoall_call(c.in, c.out, c.block(), c.type); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Alltoall", MPI_Alltoall, MPI_Ialltoall, init.alltoall, a.in, a.block, a.type, a.out,
                           a.block, a.type);
        }),
    entry(
        "scan", scan, not_at_all, [](Ours c) { return detail::scan_call(c.in, c.out, c.count, c.type, c.op); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Scan", MPI_Scan, MPI_Iscan, init.scan, a.in, a.out, a.count, a.type, a.op);
        }),
    entry(
        "exscan", exscan, not_at_all, [](Ours c) { return detail::exscan_call(c.in, c.out, c.count, c.type, c.op); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Exscan", MPI_Exscan, MPI_Iexscan, init.exscan, a.in, a.out, a.count, a.type, a.op);
        }),
    entry(
        "allgatherv", allgather, unevenly,
        [](Ours c) { return detail::allgatherv_call(c.in, c.out, c.blocks->list(), c.type); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Allgatherv", MPI_Allgatherv, MPI_Iallgatherv, init.allgatherv, a.in, a.block, a.type,
                           a.out, a.counts, a.offsets, a.type);
        }),
    entry(
        "gatherv", gather, unevenly,
        [](Ours c) { return detail::gatherv_call(c.in, c.block(), c.out, c.blocks->list(), c.type, c.root); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Gatherv", MPI_Gatherv, MPI_Igatherv, init.gatherv, a.in, a.block, a.type, a.out,
                           a.counts, a.offsets, a.type, a.root);
        }),
    entry(
        "scatterv", scatter, unevenly,
        [](Ours c) { return detail::scatterv_call(c.in, c.blocks->list(), c.out, c.block(), c.type, c.root); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Scatterv", MPI_Scatterv, MPI_Iscatterv, init.scatterv, a.call.in, a.counts,
                           a.offsets, a.type, output_of_scatter(a), a.block, a.type, a.root);
        }),
    entry(
        "alltoallv", alltoall, unevenly_by_pair,
        [](Ours c) { return detail::alltoallv_call(c.in, c.blocks->list(), c.out, c.blocks->list(), c.type); },
        [](Arguments a, Manner m) {
          return peer_call(m, "MPI_Alltoallv", MPI_Alltoallv, MPI_Ialltoallv, init.alltoallv, a.in, a.counts, a.offsets,
                           a.type, a.out, a.counts, a.offsets, a.type);
        }),
    BenchCollective{"sendrecv", std::nullopt, not_at_all, [](Ours) -> std::string { return "batch"; }, our_sendrecv,
                    peer_sendrecv},
};

}  // namespace

std::span<const BenchCollective> collectives() { return table; }

}  // namespace tutti::bench
