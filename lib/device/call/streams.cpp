#include "lib/device/call/streams.hpp"

#include <vector>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::detail {

Streams::Streams(mpi::Carrier& carrier, const Members& members, const Paths& paths, const Settings& settings,
                 int context, MPI_Comm comm, stream::Counters& counters) {
  if (!paths.runs_in_streams()) {
    why_no_launcher_ =
        members.node_count() > 1
            ? "the ranks are on several nodes"
            : "not all ranks used a CUDA device, in shared memory and with CUDA IPC, when the communicator was made";
    return;
  }
  launcher_ = stream::make_launcher({.fabric = &carrier.fabric(),
                                     .exchange = &carrier.device_memory(),
                                     .locals = paths.locals(),
                                     .me = members.me().value(),
                                     .context = context,
                                     .memory_bytes = settings.stream_memory,
                                     .counters = &counters});
  ipc::collect();  // memory of earlier communicators: closed here, and freed by its owners below
  const stream::Offer mine = launcher_ == nullptr ? stream::Offer{} : launcher_->offer();
  std::vector<stream::Offer> all(static_cast<std::size_t>(members.size()));
  mpi::check(mpi::api.Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm),
             "MPI_Allgather");
  int is_ready = 0;
  try {
    is_ready = launcher_ != nullptr && launcher_->accept(all) ? 1 : 0;
  } catch (const Error&) {  // the host moves calls in streams
  }
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &is_ready, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  ipc::collect();
  if (is_ready != 0) return;
  launcher_.reset();
  why_no_launcher_ =
      settings.stream_memory == 0
          ? "TUTTI_STREAM_MEMORY is 0"
          : "a rank has no device, no memory on it, streams that do not wait for words, or cannot map its peers'";
}

}  // namespace tutti::detail
