// Allreduce: the size is that of the input, which is also that of the output, on each rank.
#include <climits>
#include <utility>

#include "apps/bench/collectives.hpp"
#include "apps/bench/mpi_names.hpp"
#include "apps/bench/pattern.hpp"
#include "lib/mpi/check.hpp"
#include "lib/mpi/dialect.hpp"
#include "tutti/allreduce.hpp"

namespace tutti::bench {

namespace {

Count whole(Count count, int /*ranks*/) { return count; }

/// Each element crosses each link twice, but for its own rank's part.
double busbw_factor(int ranks) { return 2.0 * (ranks - 1) / ranks; }

Plan plan(const Call& call) {
  return plan_allreduce(call.in, call.out, call.count, call.type, call.op, *call.comm, {call.algorithm});
}

std::string algorithm(const Call& call) { return std::string{plan(call).algorithm()}; }

std::unique_ptr<Repeater> ours(const Call& call, Mode mode) {
  switch (mode) {
    case Mode::blocking:
      return repeater(
          [call] { allreduce(call.in, call.out, call.count, call.type, call.op, *call.comm, {call.algorithm}); });
    case Mode::nonblocking:
      return repeater([call] {
        allreduce_async(call.in, call.out, call.count, call.type, call.op, *call.comm, {call.algorithm}).wait();
      });
    case Mode::persistent:
      break;
  }
  return repeater([prepared = plan(call)]() mutable {
    prepared.start();
    prepared.wait();
  });
}

/// The arguments of MPI's calls.
struct MpiArguments {
  const void* in;
  void* out;
  int count;
  MPI_Datatype type;
  MPI_Op op;
};

/// A persistent request, freed with its owner.
class PersistentRequest {
 public:
  explicit PersistentRequest(MPI_Request request) : request_(request) {}
  PersistentRequest(PersistentRequest&& other) noexcept : request_(std::exchange(other.request_, MPI_REQUEST_NULL)) {}
  PersistentRequest& operator=(PersistentRequest&&) = delete;
  ~PersistentRequest() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  void start_and_wait() {
    mpi::check(MPI_Start(&request_), "MPI_Start");
    mpi::check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  }

 private:
  MPI_Request request_;
};

bool peer_has(Type type, const Op& op) { return mpi_type(type) && mpi_op(op.kind()); }

std::unique_ptr<Repeater> peer_blocking(const MpiArguments& a) {
  return repeater(
      [a] { mpi::check(MPI_Allreduce(a.in, a.out, a.count, a.type, a.op, MPI_COMM_WORLD), "MPI_Allreduce"); });
}

std::unique_ptr<Repeater> peer_nonblocking(const MpiArguments& a) {
  return repeater([a] {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Iallreduce(a.in, a.out, a.count, a.type, a.op, MPI_COMM_WORLD, &request), "MPI_Iallreduce");
    mpi::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  });
}

/// Empty if this MPI has no persistent collectives.
std::unique_ptr<Repeater> peer_persistent(const MpiArguments& a) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (!mpi::persistent_allreduce_init(a.in, a.out, a.count, a.type, a.op, MPI_COMM_WORLD, &request)) return nullptr;
  return repeater([prepared = PersistentRequest{request}]() mutable { prepared.start_and_wait(); });
}

std::optional<PeerCall> peer(const Call& call, Mode mode) {
  if (call.count > Count{INT_MAX} || !peer_has(call.type, call.op)) return std::nullopt;
  const MpiArguments arguments{call.in == call.out ? MPI_IN_PLACE : call.in, call.out, mpi::narrow(call.count.value()),
                               *mpi_type(call.type), *mpi_op(call.op.kind())};
  if (mode == Mode::blocking) return PeerCall{peer_blocking(arguments), mode};
  if (mode == Mode::persistent) {
    if (auto prepared = peer_persistent(arguments)) return PeerCall{std::move(prepared), mode};
  }
  return PeerCall{peer_nonblocking(arguments), Mode::nonblocking};
}

std::int64_t check(const Call& call, Repeater& repeater) {
  const int rank = call.comm->rank().value(), ranks = call.comm->size();
  const auto size = static_cast<std::size_t>((call.count.value() * size_of(call.type)).value());
  const Pattern input = input_pattern(call.type, call.op, rank, ranks);
  // Out of place the output holds the input at first: right nowhere by accident, except where the result is the input.
  input.write_to(*call.memory, {call.out, size});
  if (call.in != call.out) input.write_to(*call.memory, {call.in, size});
  repeater.run(1);
  const Pattern reduced = reduced_pattern(call.type, call.op, ranks);
  std::int64_t wrong = reduced.differences(*call.memory, {call.out, size}, rounding_tolerance(call.type, call.op));
  if (call.in != call.out) wrong += input.differences(*call.memory, {call.in, size}, 0);
  return wrong;
}

}  // namespace

const BenchCollective bench_allreduce = {
    .collective = Collective::allreduce,
    .input_count = whole,
    .output_count = whole,
    .busbw_factor = busbw_factor,
    .algorithm = algorithm,
    .ours = ours,
    .peer_has = peer_has,
    .peer = peer,
    .check = check,
};

}  // namespace tutti::bench
