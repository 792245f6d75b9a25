#pragma once
// How a collective is called in each mode: by Tutti, and by the MPI beside it.

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/collective.hpp"
#include "apps/bench/cuda.hpp"
#include "apps/bench/lists.hpp"
#include "apps/bench/repeaters.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "tutti/call.hpp"

namespace tutti::bench {

// ---- Tutti's calls

/// A function object of type `Describe` makes the description of the call's arguments that Tutti's functions for the
/// collective make, anew for each call as in any program.
template <class Describe>
[[nodiscard]] std::unique_ptr<Repeater> ours(const Call& call, Mode mode) {
  static constexpr Describe describe{};
  if (call.list > 0) return our_list(call, mode, describe);
  switch (mode) {
    case Mode::blocking:
      return repeater([call] { detail::run(describe(call), *call.comm, call.options()); });
    case Mode::nonblocking:
      return repeater([call] {
        Request request = detail::start(describe(call), *call.comm, call.options());
        compute(call.computation);
        request.wait();
      });
    case Mode::stream:
      return repeater_in_stream([call, stream = cuda::stream()] {
        Options options = call.options();
        options.stream = stream;
        detail::run(describe(call), *call.comm, options);
      });
    case Mode::stream_plan: {
      Options options = call.options();
      options.stream = cuda::stream();
      return repeater_in_stream(
          [prepared = detail::prepare(describe(call), *call.comm, options)]() mutable { prepared.start(); });
    }
    case Mode::persistent:
      break;
  }
  return repeater_of(detail::prepare(describe(call), *call.comm, call.options()), call.computation);
}

/// The algorithm that a plan's explanation names, with its parameter and segment: "knomial:4/8K".
[[nodiscard]] std::string choice_in(std::string_view explanation);

/// The algorithm that runs: as it was asked for, else the one chosen, with its parameter and segment.
template <class Describe>
[[nodiscard]] std::string algorithm(const Call& call) {
  if (!call.algorithm.empty()) return std::string{call.algorithm};
  if (call.list > 0) return choice_in(list_explanation(call, Describe{}));
  return choice_in(detail::prepare(Describe{}(call), *call.comm, call.options()).explain());
}

// ---- MPI's calls

/// Nothing where MPI lacks the type (fp8, fp16, bf16) or the operation (avg, exact_sum, scaled_sum).
[[nodiscard]] std::optional<MPI_Datatype> mpi_type(Type type);
[[nodiscard]] std::optional<MPI_Op> mpi_op(Op::Kind kind);

/// The arguments of a call as MPI takes them. The call must outlive the repeaters made of it: they hold its lists.
struct MpiArguments {
  explicit MpiArguments(const Call& its_call);

  const Call& call;
  const void* in;  ///< MPI_IN_PLACE on ranks where the call is in place.
  void* out;
  int count, block, root;
  const int *counts, *offsets;  ///< One for each rank's block.
  MPI_Datatype type;            ///< One of the same size, for elements that are only moved, where MPI lacks the type.
  MPI_Op op;
};

/// Requests that are started and waited for together, freed with their owner if they are persistent.
class MpiRequests {
 public:
  explicit MpiRequests(std::vector<MPI_Request> requests) : requests_(std::move(requests)) {}
  MpiRequests(MpiRequests&&) = default;
  MpiRequests& operator=(MpiRequests&&) = delete;
  ~MpiRequests();
  void start_and_wait(const Computation* computation);

 private:
  std::vector<MPI_Request> requests_;
};

/// How an MPI's call is made: computation comes between the start of a call that does not block and its wait.
struct Manner {
  Mode mode;
  MPI_Comm comm;
  const Computation* computation;
};

/// Calls of an MPI collective by `blocking`, `nonblocking` and `persistent`, which take the same `arguments` except for
/// the last. `persistent` is nullptr if this MPI has none; nonblocking ones are made then. In place of calls in
/// streams, which MPI does not have, blocking ones are made.
template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
[[nodiscard]] PeerCall peer_call(const Manner& manner, std::string_view name, Blocking blocking,
                                 Nonblocking nonblocking, Persistent persistent, Arguments... arguments) {
  const auto [mode, comm, computation] = manner;
  if (mode == Mode::blocking || is_in_stream(to_string(mode))) {
    return {repeater([=, comm = comm] { mpi::check(blocking(arguments..., comm), name); }), Mode::blocking};
  }
  if (mode == Mode::persistent && persistent != nullptr) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(persistent(arguments..., comm, MPI_INFO_NULL, &request), name);
    return {repeater([prepared = MpiRequests{{request}}, computation = computation]() mutable {
              prepared.start_and_wait(computation);
            }),
            mode};
  }
  return {repeater([=, comm = comm, computation = computation] {
            MPI_Request request = MPI_REQUEST_NULL;
            mpi::check(nonblocking(arguments..., comm, &request), name);
            compute(computation);
            mpi::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
          }),
          Mode::nonblocking};
}

}  // namespace tutti::bench
