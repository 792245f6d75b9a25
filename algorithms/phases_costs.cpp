#include "phases_costs.hpp"

#include <algorithm>
#include <set>

#include "multiplying_pattern.hpp"

namespace tutti {
namespace {

std::size_t index(int place) { return static_cast<std::size_t>(place); }

Rank root_of(const Problem& problem) { return has_root(problem.collective) ? problem.root : Rank{0}; }

/// The trees over the sockets of all nodes, one after the other.
InnerTrees inner_trees(const Problem& problem, const Nodes& nodes, const Nodes& sockets) {
  std::vector<int> heads(index(nodes.count())), leader_at(heads.size());
  for (int socket = 0; socket < sockets.count(); ++socket) {
    const Rank leader = sockets.leader(socket);
    const std::size_t node = index(nodes.of(leader));
    if (leader == nodes.leader(nodes.of(leader))) leader_at[node] = heads[node];
    ++heads[node];
  }
  InnerTrees trees;
  for (int socket = 0; socket < sockets.count(); ++socket) {
    const Rank leader = sockets.leader(socket);
    const int node = nodes.of(leader);
    const bool leads_node = leader == nodes.leader(node), is_home = node == nodes.of(root_of(problem));
    const KnomialShape above = group_shape(heads[index(node)], leader_at[index(node)], node_radix);
    const KnomialShape shape = group_shape(sockets.at(socket).size(), sockets.server(0, socket), node_radix);
    const int children = shape.root_children + (leads_node ? above.root_children : above.inner_children);
    int& most = !leads_node ? trees.other : is_home ? trees.home_leader : trees.away_leader;
    most = std::max(most, children);
    trees.other = std::max(trees.other, shape.inner_children);
    int& depth = is_home ? trees.home_depth : trees.away_depth;
    depth = std::max(depth, shape.depth + (leads_node ? 0 : above.depth));
  }
  return trees;
}

/// The load of the busiest ranks in the trees inside nodes and the one over leaders.
struct WholeTree {
  int root = 0, inner = 0;  ///< Children of the root, and the most that another rank has.
  int depth = 0;
  WholeTree(const Problem& problem, const InnerTrees& trees) {
    const Nodes nodes{problem};
    const KnomialShape across = group_shape(nodes.count(), nodes.of(root_of(problem)), problem.parameter);
    root = across.root_children + trees.home_leader;
    inner = std::max(across.inner_children + trees.away_leader, trees.other);
    depth = std::max(trees.home_depth, across.depth + trees.away_depth);
  }
  [[nodiscard]] int most_children() const { return std::max(root, inner); }
};

}  // namespace

NodeFigures::NodeFigures(const Nodes& all) : nodes(all.count()), lanes(all.lanes()), smallest(lanes) {
  for (int node = 0; node < nodes; ++node)
    smallest = std::min(smallest, all.at(node).size());
  served = (lanes + smallest - 1) / smallest;
  carried = std::min(nodes - 1, (nodes + smallest - 1) / smallest);
}

KnomialShape group_shape(int size, int root, int radix) {
  if (radix > 1) return knomial_shape(size, Rank{root}, radix);
  return {.depth = size - 1, .root_children = std::min(1, size - 1), .inner_children = size > 2 ? 1 : 0};
}

LaneTrees::LaneTrees(const Nodes& nodes) : depth(group_shape(nodes.lanes(), 0, node_radix).depth) {
  std::set<int> sizes;
  for (int node = 0; node < nodes.count(); ++node)
    sizes.insert(nodes.at(node).size());
  for (const int size : sizes) {
    const int served = (nodes.lanes() + size - 1) / size;
    for (int place = 0; place < size; ++place) {
      const LoadOfAllRoots load = load_of_all_roots(Rank{place}, size, node_radix);
      children = std::max(children, served * load.children);
      inner = std::max(inner, served * load.inner);
    }
  }
}

InnerTrees InnerTrees::of_nodes(const Problem& problem) {
  const Nodes nodes{problem};
  return inner_trees(problem, nodes, nodes);
}

InnerTrees InnerTrees::of_sockets(const Problem& problem) {
  return inner_trees(problem, Nodes{problem}, Nodes::sockets(problem));
}

Cost cost_of_broadcast(const Problem& problem, const InnerTrees& inner) {
  const WholeTree tree{problem, inner};
  return {.messages = tree.most_children(),
          .rounds = tree.depth,
          .sent = tree.most_children() * problem.count,
          .copied = problem.count};
}

Cost cost_of_reduce(const Problem& problem, const InnerTrees& inner) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  const WholeTree tree{problem, inner};
  return {.messages = 1,
          .rounds = tree.depth,
          .sent = n,
          .reduced = tree.most_children() * n,
          .scratch = (tree.inner > 0 ? 2 : 1) * n};
}

Cost cost_of_allreduce(const Problem& problem, const InnerTrees& inner) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  const Multiplying exchange{Rank{0}, Nodes{problem}.count(), problem.parameter};
  const int below = std::max(inner.home_leader, inner.away_leader);
  const int sent = std::max(exchange.messages() + below, 1 + inner.other);
  const int room = (below > 0 ? 1 : 0) + exchange.largest_radix() - 1;  // of a leader
  return {.messages = sent,
          .rounds = 2 * std::max(inner.home_depth, inner.away_depth) + exchange.longest_chain(),
          .sent = sent * n,
          .reduced = std::max(exchange.messages() + below, inner.other) * n,
          .scratch = std::max(room, inner.other > 0 ? 2 : 0) * n};
}

}  // namespace tutti
