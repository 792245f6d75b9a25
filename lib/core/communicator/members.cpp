#include "lib/core/communicator/members.hpp"

#include <algorithm>
#include <utility>

#include "lib/core/communicator/carrier.hpp"
#include "lib/core/schedule/numbering.hpp"

namespace tutti::detail {

Members::Members(const mpi::Carrier& carrier, std::vector<int> on_carrier, Rank me)
    : me_(me), on_carrier_(std::move(on_carrier)) {
  for (const int rank : on_carrier_) {
    nodes_.push_back(carrier.node_of(rank));
    sockets_.push_back(carrier.socket_of(rank));
  }
  std::vector<int> on_node(static_cast<std::size_t>(number_in_order(nodes_)));
  for (const int node : nodes_)
    most_on_a_node_ = std::max(most_on_a_node_, ++on_node[static_cast<std::size_t>(node)]);
  const int sockets = number_in_order(sockets_);
  socket_count_ = sockets;
  for (int rank = 0; rank < size(); ++rank) {
    if (node_of(Rank{rank}) != leaders_.size()) continue;  // not the lowest of its node
    if (rank == me_.value()) leaders_.me = leaders_.size();
    leaders_.ranks.push_back(Rank{rank});
  }
  for (int rank = 0; rank < size(); ++rank) {
    if (node_of(Rank{rank}) != node_of(me_)) continue;
    if (rank == me_.value()) node_.me = node_.size();
    node_.ranks.push_back(Rank{rank});
  }
}

}  // namespace tutti::detail
