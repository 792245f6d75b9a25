#include "lib/watch/clocks.hpp"

#include <sched.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::detail {
namespace {

using mpi::api;
using mpi::check;
using mpi::rank_in;
using mpi::ranks_in;

constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

/// More for few nodes: the first rank serves them one after the other.
int round_trips(int nodes) { return std::clamp(4096 / nodes, 8, 64); }

/// What the first rank answers: its clock, and whose clock that is compared with.
struct Answer {
  std::int64_t time = 0, offset = 0;
  std::int32_t reference = -1, unused = 0;
};

/// Messages with one other rank, each of which has to be over in time.
class Partner {
 public:
  Partner(MPI_Comm comm, int rank, std::int64_t patience, Clock clock)
      : comm_(comm), rank_(rank), patience_(patience), clock_(clock) {}

  [[nodiscard]] bool send(const Answer& data) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(api.Isend(&data, sizeof data, MPI_BYTE, rank_, 0, comm_, &request), "MPI_Isend");
    if (is_over(request)) return true;
    check(api.Request_free(&request), "MPI_Request_free");  // MPI has a copy of so few bytes
    return false;
  }
  [[nodiscard]] bool receive(Answer& data) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(api.Irecv(&data, sizeof data, MPI_BYTE, rank_, 0, comm_, &request), "MPI_Irecv");
    if (is_over(request)) return true;
    check(api.Cancel(&request), "MPI_Cancel");
    check(api.Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    return false;
  }

 private:
  bool is_over(MPI_Request& request) {
    const std::int64_t begin = clock_();
    for (int flag = 0;;) {
      check(api.Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
      if (flag != 0) return true;
      if (patience_ != for_ever && clock_() - begin > patience_) return false;
      sched_yield();
    }
  }
  MPI_Comm comm_;
  int rank_;
  std::int64_t patience_;
  Clock clock_;
};

/// The part of the first rank, with one other. False: that did not answer.
bool answer(Partner partner, int trips, const ClockOffset& known, Clock clock) {
  for (int trip = 0; trip < trips; ++trip) {
    Answer data;
    if (!partner.receive(data)) return false;
    data = {clock(), known.offset, known.reference};
    if (!partner.send(data)) return false;
  }
  return true;
}

/// The part of the other.
std::optional<ClockOffset> ask(Partner partner, int trips, Clock clock) {
  ClockOffset best{.round_trip = for_ever};
  for (int trip = 0; trip < trips; ++trip) {
    Answer data;
    const std::int64_t begin = clock();
    if (!partner.send(data) || !partner.receive(data)) return std::nullopt;
    const std::int64_t end = clock(), middle = begin + (end - begin) / 2;
    if (end - begin >= best.round_trip) continue;
    best = {.reference = data.reference,
            .at = middle,
            .offset = data.time - middle + data.offset,
            .round_trip = end - begin};
  }
  return best;
}

}  // namespace

ClockComparison::ClockComparison(MPI_Comm comm, mpi::UniqueComm node, int me, Clock clock)
    : node_(std::move(node)), me_(me), clock_(clock) {
  const int color = rank_in(node_.get()) == 0 ? 0 : MPI_UNDEFINED;
  check(api.Comm_split(comm, color, rank_in(comm), leaders_.receive()), "MPI_Comm_split");
}

ClockOffset ClockComparison::compare(const ClockOffset& known) {
  ClockOffset found = compare_leaders(known, for_ever);
  check(api.Bcast(&found, sizeof found, MPI_BYTE, 0, node_.get()), "MPI_Bcast");
  return found;
}

ClockOffset ClockComparison::compare_again(const ClockOffset& known, std::int64_t patience) {
  return compare_leaders(known, patience);
}

ClockOffset ClockComparison::compare_leaders(const ClockOffset& known, std::int64_t patience) {
  if (leaders_.get() == MPI_COMM_NULL) return {};
  const int nodes = ranks_in(leaders_.get()), trips = round_trips(nodes);
  if (rank_in(leaders_.get()) > 0) {
    ClockOffset found = ask(Partner{leaders_.get(), 0, patience, clock_}, trips, clock_).value_or(ClockOffset{});
    found.leader = me_;
    return found;
  }
  ClockOffset own = known;
  if (own.reference < 0) own = {.reference = me_, .leader = me_};
  own.at = clock_();
  for (int node = 1; node < nodes; ++node)
    if (!answer(Partner{leaders_.get(), node, patience, clock_}, trips, own, clock_)) break;
  return own;
}

}  // namespace tutti::detail
