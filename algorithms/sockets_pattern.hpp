#pragma once
// Three levels, as algorithms see them: sockets, nodes, and all nodes.

#include <algorithm>
#include <utility>
#include <vector>

#include "phases_nodes.hpp"

namespace tutti {

/// The groups of a rank. Each socket has a leader, and so has each node, which leads its socket as well. The leaders of
/// a node's sockets are the node's heads.
class Sockets {
 public:
  explicit Sockets(const Problem& problem) : nodes_(problem), sockets_(Nodes::sockets(problem)), heads_{{}, -1} {
    std::vector<int> heads_of(static_cast<std::size_t>(nodes_.count()));
    for (int socket = 0; socket < sockets_.count(); ++socket) {
      const Rank leader = sockets_.leader(socket);
      const int node = nodes_.of(leader);
      most_heads_ = std::max(most_heads_, ++heads_of[static_cast<std::size_t>(node)]);
      if (node != nodes_.own()) continue;
      if (leader == problem.rank) heads_.me = heads_.size();
      if (leader == nodes_.leader(node)) node_leader_ = heads_.size();
      heads_.ranks.push_back(leader);
    }
  }

  /// A tree over this rank's socket, to its leader.
  [[nodiscard]] GroupTree socket() const { return {sockets_.mine(), sockets_.server(0, sockets_.own())}; }
  [[nodiscard]] bool leads_socket() const { return sockets_.leads(); }
  /// A tree over the heads of this rank's node, of which it has to be one, to the node's leader.
  [[nodiscard]] GroupTree node() const { return {heads_, node_leader_}; }
  [[nodiscard]] bool leads_node() const { return nodes_.leads(); }
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }
  /// A tree that needs `theirs` on this rank: of its socket or its node.
  [[nodiscard]] bool combines_inside() const { return combines(socket()) || (leads_socket() && combines(node())); }

  /// The most ranks that one socket has besides its leader, and heads that one node has besides its own.
  [[nodiscard]] std::pair<int, int> most_others() const { return {sockets_.lanes() - 1, most_heads_ - 1}; }

 private:
  Nodes nodes_, sockets_;
  Group heads_;
  int node_leader_ = 0, most_heads_ = 1;
};

/// Reduces up both trees inside nodes. Returns the place of the result, as append_group_reduce does for one of them.
inline Region append_inner_reduce(ScheduleBuilder& plan, const Sockets& levels, const Region& mine, const Region& sum,
                                  const Region& theirs) {
  const Region done = append_group_reduce(plan, levels.socket(), mine, sum, theirs);
  return levels.leads_socket() ? append_group_reduce(plan, levels.node(), done, sum, theirs) : done;
}
/// Broadcasts down both trees inside nodes.
inline void append_inner_broadcast(ScheduleBuilder& plan, const Sockets& levels, const Region& from,
                                   const Region& into) {
  if (levels.leads_socket()) append_group_broadcast(plan, levels.node(), from, into);
  append_group_broadcast(plan, levels.socket(), from, into);
}

}  // namespace tutti
