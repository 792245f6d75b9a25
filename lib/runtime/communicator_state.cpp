#include "lib/runtime/communicator_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "lib/runtime/runtime.hpp"
#include "lib/schedule/numbering.hpp"
#include "lib/transport/mpi/api.hpp"
#include "lib/transport/mpi/check.hpp"

namespace tutti::detail {

/// Braces: from left to right, as both are collective.
CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options)
    : CommunicatorState{runtime, comm, agree_on_settings(comm, options, runtime.progress()), runtime.admit(comm)} {}

CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, Settings settings, Admission admission)
    : runtime_(runtime),
      progress_(runtime.progress()),
      settings_(std::move(settings)),
      carrier_(std::move(admission.carrier)),
      tags_(carrier_->tags()),
      context_(admission.context),
      is_crowded_(carrier_->is_crowded()),
      shares_processors_(carrier_->shares_processors()),
      mpi_yields_(carrier_->mpi_yields()),
      carrier_ranks_(std::move(admission.ranks)),
      plans_(static_cast<std::size_t>(settings_.plan_cache)) {
  int rank = 0;
  mpi::check(mpi::api.Comm_rank(comm, &rank), "MPI_Comm_rank");
  rank_ = Rank{rank};
  find_nodes();
  find_links(comm);
  if (!settings_.transport.network.empty()) join_network(comm);
  turns_.resize(static_cast<std::size_t>(tags_.turns()));
  std::iota(turns_.begin(), turns_.end(), std::uint64_t{0});
  runtime_.opened(*this);
}

void CommunicatorState::find_nodes() {
  for (const int rank : carrier_ranks_) {
    nodes_.push_back(carrier_->node_of(rank));
    sockets_.push_back(carrier_->socket_of(rank));
  }
  number_in_order(nodes_);
  socket_count_ = number_in_order(sockets_);
  for (int rank = 0; rank < size(); ++rank) {
    if (node_of(Rank{rank}) != leaders_.size()) continue;  // not the lowest of its node
    if (rank == rank_.value()) leaders_.me = leaders_.size();
    leaders_.ranks.push_back(Rank{rank});
  }
  for (int rank = 0; rank < size(); ++rank) {
    if (node_of(Rank{rank}) != node_of(rank_)) continue;
    if (rank == rank_.value()) node_.me = node_.size();
    node_.ranks.push_back(Rank{rank});
  }
}

void CommunicatorState::find_links(MPI_Comm comm) {
  const SharedMemoryUse uses = settings_.transport.shared_memory;
  bool reaches_all = true, reaches_any = false;
  for (int rank = 0; rank < size(); ++rank) {
    const int local = carrier_->local_of(carrier_ranks_[static_cast<std::size_t>(rank)]);
    const bool is_local = local >= 0 && rank != rank_.value() && uses != SharedMemoryUse::never;
    locals_.push_back(local);
    is_local_.push_back(is_local ? 1 : 0);
    reaches_any |= is_local;
    reaches_all &= is_local || rank == rank_.value();
  }
  if (uses == SharedMemoryUse::never) return;
  std::string why = reaches_any ? map_links() : "";
  // Whether all ranks have the links that they can use, and whether every rank shares memory with all others.
  std::array<int, 2> agreed{why.empty() ? 1 : 0, reaches_all ? 1 : 0};
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, agreed.data(), agreed.size(), MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (agreed[0] == 0) {
    links_ = nullptr;
    is_local_.assign(is_local_.size(), 0);
  }
  shares_memory_ = agreed[0] != 0 && agreed[1] != 0 && links_ != nullptr;
  if (uses != SharedMemoryUse::always || (agreed[0] != 0 && agreed[1] != 0)) return;
  carrier_->give_back(context_);
  if (why.empty()) why = carrier_->fabric().why_not();
  throw ArgumentError(fmt::format(
      "tutti::Communicator: transport 'shm', but not all ranks share memory with rank {} ({}); allowed: auto, mpi",
      rank_.value(), why.empty() ? "others cannot, or are on other nodes" : why));
}

/// Why it cannot be done; empty if it could.
std::string CommunicatorState::map_links() noexcept {
  try {
    links_ = &carrier_->fabric().links(context_);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

namespace {

/// Collective over `comm`: the objection of the lowest rank that has one, "rank 3: why"; empty if none has.
std::string first_objection(MPI_Comm comm, int rank, const std::string& why) {
  constexpr int none = std::numeric_limits<int>::max();
  int objecting = why.empty() ? none : rank;
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &objecting, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (objecting == none) return {};
  std::array<char, 512> text{};
  std::copy_n(why.begin(), std::min(why.size(), text.size() - 1), text.begin());
  mpi::check(mpi::api.Bcast(text.data(), mpi::narrow(text.size()), MPI_CHAR, objecting, comm), "MPI_Bcast");
  return fmt::format("rank {}: {}", objecting, text.data());
}

}  // namespace

/// All ranks open the network and reach each other, or all refuse.
void CommunicatorState::join_network(MPI_Comm comm) {
  const std::string& name = settings_.transport.network;
  std::string objection = first_objection(comm, rank_.value(), open_network(name));
  if (objection.empty()) objection = first_objection(comm, rank_.value(), network_->connect(comm, carrier_ranks_));
  if (objection.empty()) return;
  carrier_->give_back(context_);
  throw ArgumentError(
      fmt::format("tutti::Communicator: transport '{}' cannot be used here: {}; allowed: auto, mpi", name, objection));
}

/// Why it cannot be opened; empty if it could.
std::string CommunicatorState::open_network(std::string_view name) noexcept {
  try {
    const mpi::NetworkDriver* const driver = mpi::find_network_driver(name);
    if (driver == nullptr) return "this program was built without it";
    network_ = &carrier_->network(*driver);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

Route CommunicatorState::route() {
  return {.mpi = {.comm = carrier_->comm(),
                  .tags = tags_,
                  .message_limit = settings_.message_limit,
                  .ranks = carrier_ranks_},
          .network =
              {.network = network_, .context = context_, .me = rank_.value(), .ranks = carrier_ranks_, .nodes = nodes_},
          .shm = {.links = links_,
                  .locals = locals_,
                  .counters = &counters_.shm,
                  .processors = carrier_->outnumbers_processors() ? carrier_->fabric().processors() : nullptr,
                  .patience = is_crowded_ ? shm::tuning.patience_crowded : shm::tuning.patience,
                  .looks_elsewhere = carrier_->shares_in_pairs() ? shm::tuning.looks_a_message : 0,
                  .single_copy = settings_.single_copy},
          .counters = &counters_.messages};
}

shm::SharedMemory CommunicatorState::shared_memory() const {
  if (links_ == nullptr) return {};
  const shm::Geometry& geometry = links_->geometry();
  const bool is_crowded = carrier_->outnumbers_processors();
  return {.reaches = is_local_,
          .cell_bytes = geometry.cell_bytes,
          .piece_bytes = geometry.buffer_bytes,
          .copied_bytes = is_crowded ? shm::tuning.copied_bytes_crowded : shm::tuning.copied_bytes,
          .joined_bytes = shm::tuning.joined_bytes,
          .eager_messages = geometry.sure_cells()};
}

void CommunicatorState::throw_closed() const {
  throw StateError(fmt::format("tutti: rank {}: this communicator {}", rank_.value(), closed_because_));
}

void CommunicatorState::throw_failed() const {
  throw Error(fmt::format("the communicator is unusable since an operation failed: {}", failure_));
}

void CommunicatorState::poison(const std::string& why) {
  if (failure_.empty()) failure_ = why;
}

void CommunicatorState::close(const char* reason) noexcept {
  if (!is_open() || !is_of_this_process()) return;
  for (int looks = 0; in_flight_ > 0; ++looks)
    progress_.look_at_all(looks);
  if (failure_.empty()) carrier_->give_back(context_);  // else late messages might still be on their way
  closed_because_ = reason;
  runtime_.closed(*this);
  carrier_.reset();
}

}  // namespace tutti::detail
