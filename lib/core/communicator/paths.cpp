#include "lib/core/communicator/paths.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/communicator/objection.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::detail {

namespace {

/// Receives a message that has come, from any rank, and forgets it. False: none has.
bool drop_message(MPI_Comm comm, int tag) {
  int has_come = 0, bytes = 0;
  MPI_Status status;
  mpi::check(mpi::api.Iprobe(MPI_ANY_SOURCE, tag, comm, &has_come, &status), "MPI_Iprobe");
  if (has_come == 0) return false;
  mpi::check(mpi::api.Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  std::vector<std::byte> dropped(static_cast<std::size_t>(std::max(bytes, 1)));
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(mpi::api.Irecv(dropped.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, comm, &request), "MPI_Irecv");
  mpi::check(mpi::api.Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  return true;
}

}  // namespace

Paths::Paths(mpi::Carrier& carrier, const Members& members, const Settings& settings, int context, MPI_Comm comm)
    : carrier_(&carrier), members_(&members), settings_(&settings), context_(context) {
  find_links();
  drop_messages_of_earlier();
  if (!settings_->transport.network.empty()) join_network(comm);
  agree(comm);
}

void Paths::find_links() {
  const SharedMemoryUse uses = settings_->transport.shared_memory;
  bool reaches_any = false;
  for (int rank = 0; rank < members_->size(); ++rank) {
    const int local = carrier_->local_of(members_->on_carrier()[static_cast<std::size_t>(rank)]);
    const bool is_local = local >= 0 && rank != members_->me().value() && uses != SharedMemoryUse::never;
    locals_.push_back(local);
    is_local_.push_back(is_local ? 1 : 0);
    reaches_any |= is_local;
    reaches_all_ &= is_local || rank == members_->me().value();
  }
  if (reaches_any) why_no_links_ = map_links();
}

/// An earlier communicator had the context, and some of its messages may never have been received. Shared memory and
/// networks tell them by fingerprints. Before any rank can have sent one here.
void Paths::drop_messages_of_earlier() const {
  if (links_ != nullptr) links_->begin_anew();
  for (int message_class = 0; message_class < CompiledPlan::class_count; ++message_class)
    while (drop_message(carrier_->comm(), pairwise_tag(message_class))) {
    }
}

/// In one call: whether all ranks have the links that they can use, whether every rank shares memory with all others,
/// and the ways that all have for data on devices.
void Paths::agree(MPI_Comm comm) {
  const DeviceAbilities mine = device_abilities(settings_->device_path, links_ != nullptr, network_);
  struct {
    int has_links, reaches_all;
    DeviceAbilities::Bits can;
  } agreed{why_no_links_.empty() ? 1 : 0, reaches_all_ ? 1 : 0, mine.can};
  // A rank that is alone on its node passes no message there, by whatever way.
  const bool is_alone = links_ == nullptr && why_no_links_.empty();
  if (is_alone && settings_->transport.shared_memory != SharedMemoryUse::never) agreed.can[DeviceAbilities::ipc] = 1;
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &agreed, sizeof agreed / sizeof(int), MPI_INT, MPI_MIN, comm),
             "MPI_Allreduce");
  if (agreed.has_links == 0) {
    links_ = nullptr;
    is_local_.assign(is_local_.size(), 0);
  }
  reaches_all_ = agreed.has_links != 0 && agreed.reaches_all != 0;
  shares_memory_ = reaches_all_ && links_ != nullptr;
  require_shared_memory();
  agree_on_ways(comm, mine, agreed.can);
}

void Paths::require_shared_memory() {
  if (settings_->transport.shared_memory != SharedMemoryUse::always || reaches_all_) return;
  carrier_->give_back(context_);
  const std::string& why = why_no_links_.empty() ? carrier_->fabric().why_not() : why_no_links_;
  throw ArgumentError(fmt::format(
      "tutti::Communicator: transport 'shm', but not all ranks share memory with rank {} ({}); allowed: auto, mpi",
      members_->me().value(), why.empty() ? "others cannot, or are on other nodes" : why));
}

/// Why it cannot be done; empty if it could.
std::string Paths::map_links() noexcept {
  try {
    links_ = &carrier_->fabric().links(context_);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// A way that is forced has to be there on all ranks. The others are taken where all have them.
void Paths::agree_on_ways(MPI_Comm comm, const DeviceAbilities& mine, const DeviceAbilities::Bits& of_all) {
  using device::WayUse;
  const WayUse use = settings_->device_path;
  const auto takes = [&](WayUse way, std::size_t ability) {
    return (use == WayUse::automatic || use == way) && of_all[ability] != 0;
  };
  ways_ = {.ipc = takes(WayUse::ipc, DeviceAbilities::ipc),
           .network = takes(WayUse::ucx, DeviceAbilities::ucx),
           .mpi = takes(WayUse::mpi, DeviceAbilities::mpi)};
  const bool all_use_devices = of_all[DeviceAbilities::uses_device] != 0;
  if (settings_->buffers == BufferUse::device || (settings_->buffers == BufferUse::automatic && all_use_devices))
    assumed_memory_ = AssumedMemory::device;
  else if (settings_->buffers == BufferUse::tutti)
    assumed_memory_ = AssumedMemory::tutti;
  if (use == WayUse::automatic || use == WayUse::staging || ways_ != device::Ways{}) return;
  const std::string objection = first_objection(comm, members_->me().value(), mine.objection);
  if (objection.empty()) return;  // one rank alone, or each on a node of its own
  carrier_->give_back(context_);
  throw ArgumentError(
      fmt::format("tutti::Communicator: environment variable TUTTI_DEVICE_PATH is '{}', which cannot be used here: {}; "
                  "allowed: auto, staging",
                  use == WayUse::ipc   ? "ipc"
                  : use == WayUse::ucx ? "ucx"
                                       : "mpi",
                  objection));
}

/// All ranks open the network and reach each other, or all refuse.
void Paths::join_network(MPI_Comm comm) {
  const std::string& name = settings_->transport.network;
  std::string objection = first_objection(comm, members_->me().value(), open_network(name));
  if (objection.empty())
    objection = first_objection(comm, members_->me().value(), network_->connect(comm, members_->on_carrier()));
  if (objection.empty()) return;
  carrier_->give_back(context_);
  throw ArgumentError(
      fmt::format("tutti::Communicator: transport '{}' cannot be used here: {}; allowed: auto, mpi", name, objection));
}

/// Why it cannot be opened; empty if it could.
std::string Paths::open_network(std::string_view name) noexcept {
  try {
    const mpi::NetworkDriver* const driver = mpi::find_network_driver(name);
    if (driver == nullptr) return "this program was built without it";
    network_ = &carrier_->network(*driver);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

Routes Paths::route(CommunicatorCounters& counters) const {
  return {.mpi = {.comm = carrier_->comm(),
                  .tags = carrier_->tags(),
                  .message_limit = settings_->message_limit,
                  .ranks = members_->on_carrier()},
          .network = {.network = network_,
                      .context = context_,
                      .me = members_->me().value(),
                      .ranks = members_->on_carrier(),
                      .nodes = members_->all_nodes()},
          .shm = {.links = links_,
                  .locals = locals_,
                  .counters = &counters.shm,
                  .processors = carrier_->outnumbers_processors() ? carrier_->fabric().processors() : nullptr,
                  .patience = carrier_->is_crowded() ? shm::tuning.patience_crowded : shm::tuning.patience,
                  .looks_elsewhere = carrier_->shares_in_pairs() ? shm::tuning.looks_a_message : 0},
          .ipc = {.fabric = &carrier_->fabric(), .exchange = &carrier_->device_memory(), .counters = &counters.ipc},
          .counters = &counters.messages,
          .device = &counters.device};
}

shm::SharedMemory Paths::shared_memory() const {
  if (links_ == nullptr) return {};
  const shm::Geometry& geometry = links_->geometry();
  const bool is_crowded = carrier_->outnumbers_processors();
  const TunedMemory& tuned = settings_->tuned_memory;
  return {.reaches = is_local_,
          .cell_bytes = geometry.cell_bytes,
          .piece_bytes = geometry.buffer_bytes,
          .copied_bytes =
              tuned.copied_bytes.value_or(is_crowded ? shm::tuning.copied_bytes_crowded : shm::tuning.copied_bytes),
          .joined_bytes = tuned.joined_bytes.value_or(shm::tuning.joined_bytes),
          .fast_path_bytes = tuned.fast_path_bytes.value_or(shm::tuning.fast_path_bytes),
          .eager_messages = geometry.sure_cells()};
}

Routing Paths::routing() const {
  return {.window = std::min(carrier_->tags().messages(), Routing::most_window), .far = far_transport()};
}

}  // namespace tutti::detail
