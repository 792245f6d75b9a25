// Sendrecv: each rank sends to the next and receives from the one before, around a ring. The size is that of one
// message.
#include <array>

#include "apps/bench/collectives.hpp"
#include "apps/bench/parts.hpp"
#include "tutti/batch.hpp"

namespace tutti::bench {

namespace {

Rank next(const Call& call) { return Rank{(call.rank() + 1) % call.ranks()}; }
Rank previous(const Call& call) { return Rank{(call.rank() + call.ranks() - 1) % call.ranks()}; }

Layout layout(const Call& call) { return {call.count, call.count, std::nullopt}; }

std::string algorithm(const Call& /*call*/) { return "batch"; }

std::unique_ptr<Repeater> ours(const Call& call, Mode mode) {
  switch (mode) {
    case Mode::blocking:
      return repeater([c = call] { sendrecv(c.in, c.count, next(c), c.out, c.count, previous(c), c.type, *c.comm); });
    case Mode::nonblocking:
      return repeater(
          [c = call] { sendrecv_async(c.in, c.count, next(c), c.out, c.count, previous(c), c.type, *c.comm).wait(); });
    case Mode::persistent:
    case Mode::stream:  // is refused
    case Mode::stream_plan:
      break;
  }
  return repeater_of(
      plan_sendrecv(call.in, call.count, next(call), call.out, call.count, previous(call), call.type, *call.comm));
}

PeerCall peer(const Call& call, Mode mode) {
  const MpiArguments a{call};
  const int to = next(call).value(), from = previous(call).value();
  if (mode == Mode::blocking) {
    return {repeater([=] {
              mpi::check(MPI_Sendrecv(a.in, a.count, a.type, to, 0, a.out, a.count, a.type, from, 0, MPI_COMM_WORLD,
                                      MPI_STATUS_IGNORE),
                         "MPI_Sendrecv");
            }),
            mode};
  }
  if (mode == Mode::nonblocking) {
    return {repeater([=] {
              std::array<MPI_Request, 2> requests{};
              auto& [receiving, sending] = requests;
              mpi::check(MPI_Irecv(a.out, a.count, a.type, from, 0, MPI_COMM_WORLD, &receiving), "MPI_Irecv");
              mpi::check(MPI_Isend(a.in, a.count, a.type, to, 0, MPI_COMM_WORLD, &sending), "MPI_Isend");
              mpi::check(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
            }),
            mode};
  }
  MPI_Request receiving = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
  mpi::check(MPI_Recv_init(a.out, a.count, a.type, from, 0, MPI_COMM_WORLD, &receiving), "MPI_Recv_init");
  mpi::check(MPI_Send_init(a.in, a.count, a.type, to, 0, MPI_COMM_WORLD, &sending), "MPI_Send_init");
  return {repeater([prepared = MpiRequests{{receiving, sending}}]() mutable { prepared.start_and_wait(); }), mode};
}

std::vector<Piece> expected(const Call& call) {
  return {{Count{0}, call.count, Values::input_of(previous(call).value())}};
}

}  // namespace

const BenchCollective bench_sendrecv = {
    .name = "sendrecv",
    .collective = std::nullopt,
    .has_in_place = false,
    .has_stream_calls = false,
    .busbw_factor = crosses_once,
    .layout = layout,
    .algorithm = algorithm,
    .ours = ours,
    .peer = peer,
    .expected = expected,
};

}  // namespace tutti::bench
