#pragma once
// MPI's own calls in each mode; blocking ones in place of those in streams, which MPI does not have.

#include <mpi.h>

#include <utility>
#include <vector>

#include "apps/bench/collective.hpp"
#include "apps/bench/mpi_names.hpp"
#include "lib/transport/mpi/check.hpp"
#include "lib/transport/mpi/dialect.hpp"

namespace tutti::bench {

/// Requests that are started and waited for together, freed with their owner if they are persistent.
class MpiRequests {
 public:
  explicit MpiRequests(std::vector<MPI_Request> requests) : requests_(std::move(requests)) {}
  MpiRequests(MpiRequests&&) = default;
  MpiRequests& operator=(MpiRequests&&) = delete;
  ~MpiRequests();
  void start_and_wait();

 private:
  std::vector<MPI_Request> requests_;
};

/// Calls of an MPI collective by `blocking`, `nonblocking` and `persistent`, which take the same `arguments` except for
/// the last. `persistent` is nullptr if this MPI has none; nonblocking ones are made then.
template <class Blocking, class Nonblocking, class Persistent, class... Arguments>
[[nodiscard]] PeerCall peer_call(Mode mode, std::string_view name, Blocking blocking, Nonblocking nonblocking,
                                 Persistent persistent, Arguments... arguments) {
  if (mode == Mode::blocking || is_in_stream(to_string(mode))) {
    return {repeater([=] { mpi::check(blocking(arguments..., MPI_COMM_WORLD), name); }), Mode::blocking};
  }
  if (mode == Mode::persistent && persistent != nullptr) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(persistent(arguments..., MPI_COMM_WORLD, MPI_INFO_NULL, &request), name);
    return {repeater([prepared = MpiRequests{{request}}]() mutable { prepared.start_and_wait(); }), mode};
  }
  return {repeater([=] {
            MPI_Request request = MPI_REQUEST_NULL;
            mpi::check(nonblocking(arguments..., MPI_COMM_WORLD, &request), name);
            mpi::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
          }),
          Mode::nonblocking};
}

/// The arguments of a call as MPI takes them. The call must outlive the repeaters made of it: they hold its lists.
struct MpiArguments {
  explicit MpiArguments(const Call& call);

  const void* in;  ///< MPI_IN_PLACE on ranks where the call is in place.
  void* out;
  int count, block, root;
  MPI_Datatype type;
  MPI_Op op;
};

}  // namespace tutti::bench
