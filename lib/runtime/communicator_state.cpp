#include "lib/runtime/communicator_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lib/mpi/check.hpp"
#include "lib/runtime/runtime.hpp"

namespace tutti::detail {

CommunicatorState::CommunicatorState(Runtime& runtime, MPI_Comm comm, std::string_view algorithms)
    : runtime_(runtime),
      progress_(runtime.progress()),
      settings_(agree_on_settings(comm, algorithms)),
      carrier_(runtime.carrier_for(comm)),
      tags_(carrier_->tags()),
      context_(carrier_->take_context(comm)),
      waits_yield_(carrier_->waits_yield()),
      carrier_ranks_(carrier_->ranks_of(comm)),
      turns_(static_cast<std::size_t>(tags_.turns())),
      plans_(static_cast<std::size_t>(settings_.plan_cache)) {
  int rank = 0;
  mpi::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  rank_ = Rank{rank};
  std::iota(turns_.begin(), turns_.end(), std::uint64_t{0});
  find_nodes();
  runtime_.opened(*this);
}

/// Nodes are numbered in the order in which their lowest rank here appears.
void CommunicatorState::find_nodes() {
  std::vector<int> seen;  // of each node here: what the carrier calls it
  for (int rank = 0; rank < size(); ++rank) {
    const int node = carrier_->node_of(carrier_ranks_[static_cast<std::size_t>(rank)]);
    const auto known = std::ranges::find(seen, node);
    nodes_.push_back(static_cast<int>(known - seen.begin()));
    if (known != seen.end()) continue;
    seen.push_back(node);
    if (rank == rank_.value()) leaders_.me = leaders_.size();
    leaders_.ranks.push_back(Rank{rank});
  }
  for (int rank = 0; rank < size(); ++rank) {
    if (node_of(Rank{rank}) != node_of(rank_)) continue;
    if (rank == rank_.value()) node_.me = node_.size();
    node_.ranks.push_back(Rank{rank});
  }
}

mpi::Route CommunicatorState::route() const {
  return {.comm = carrier_->comm(), .tags = tags_, .message_limit = settings_.message_limit, .ranks = carrier_ranks_};
}

void CommunicatorState::require_open() const {
  if (!is_open()) throw StateError(fmt::format("tutti: rank {}: this communicator {}", rank_.value(), closed_because_));
}

void CommunicatorState::require_working() const {
  if (!failure_.empty())
    throw Error(fmt::format("the communicator is unusable since an operation failed: {}", failure_));
}

void CommunicatorState::poison(const std::string& why) {
  if (failure_.empty()) failure_ = why;
}

void CommunicatorState::close(const char* reason) noexcept {
  if (!is_open()) return;
  while (in_flight_ > 0)
    progress_.advance_all();
  if (failure_.empty()) carrier_->give_back(context_);  // else late messages might still be on their way
  closed_because_ = reason;
  runtime_.closed(*this);
  carrier_.reset();
}

}  // namespace tutti::detail
