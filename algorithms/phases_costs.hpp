#pragma once
// The costs of algorithms of several levels, in figures that they share. They are exact where all nodes, and all
// sockets, have equally many ranks, and upper bounds otherwise.

#include "nodes_pattern.hpp"
#include "tree_pattern.hpp"

namespace tutti {

/// The figures of nodes that costs are stated in.
struct NodeFigures {
  int nodes = 1, lanes = 1;  ///< Lanes: ranks of the largest node.
  int smallest = 1;          ///< Ranks of the smallest.
  int served = 1;            ///< Lanes that one rank serves at most.
  int carried = 0;           ///< Other nodes for which one rank carries the blocks of an alltoall, at most.
  explicit NodeFigures(const Nodes& all);
  /// The most elements of a slice, if `count` elements are cut into lanes.
  [[nodiscard]] Count slice(Count count) const { return Blocks{{Buffer::output, Count{0}, count}, lanes}.largest(); }
};

/// The tree over a group that GroupTree describes.
[[nodiscard]] KnomialShape group_shape(int size, int root, int radix);

/// The trees inside nodes of all lanes, each from the rank that serves the lane: the load of the busiest ranks in all
/// of them together. Cost: O(p log p) for nodes of p ranks.
struct LaneTrees {
  int depth = 0;
  int children = 0;  ///< The most that one rank has in all of them.
  int inner = 0;     ///< The most trees in which one rank has children without serving the lane.
  explicit LaneTrees(const Nodes& nodes);
};

/// The trees inside nodes up to leaders, over sockets first if there are any: the most children of ranks there.
/// "Home" is the root's node, or that of rank 0.
struct InnerTrees {
  int home_leader = 0, away_leader = 0;
  int other = 0;  ///< Children of a rank that leads no node.
  int home_depth = 0, away_depth = 0;
  static InnerTrees of_nodes(const Problem& problem);
  static InnerTrees of_sockets(const Problem& problem);
};

/// Costs of collectives that use those trees, and one over the leaders of nodes, whose radix is the parameter. An
/// allreduce uses recursive multiplying among the leaders instead.
[[nodiscard]] Cost cost_of_broadcast(const Problem& problem, const InnerTrees& inner);
[[nodiscard]] Cost cost_of_reduce(const Problem& problem, const InnerTrees& inner);
[[nodiscard]] Cost cost_of_allreduce(const Problem& problem, const InnerTrees& inner);

}  // namespace tutti
