#pragma once
// Ranks spread over nodes, as algorithms of several levels see them.

#include <algorithm>
#include <utility>
#include <vector>

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"

namespace tutti {

/// Phases inside a node go along trees of this radix: one round for as many ranks, which share memory.
inline constexpr int node_radix = 8;

/// The nodes of a problem. Each has a leader: its lowest rank, but in the root's node the root. Several phases are
/// split into lanes, as many as the largest node has ranks: on each node, one rank serves a lane, and where there are
/// fewer ranks than lanes, some ranks serve several. The leader serves lane 0.
class Nodes {
 public:
  explicit Nodes(const Problem& problem) : Nodes(problem, {problem.nodes.begin(), problem.nodes.end()}) {}

  /// Every longest row of consecutive ranks of one node, in order, as if it were a node: for collectives whose results
  /// depend on the order of ranks.
  static Nodes rows(const Problem& problem) {
    std::vector<int> row_of(problem.nodes.size());
    for (std::size_t rank = 1; rank < row_of.size(); ++rank)
      row_of[rank] = row_of[rank - 1] + (problem.nodes[rank] == problem.nodes[rank - 1] ? 0 : 1);
    return {problem, row_of};
  }

  /// Sockets as if they were nodes; where these are not known, nodes.
  static Nodes sockets(const Problem& problem) {
    const std::span<const int> parts = problem.sockets.empty() ? problem.nodes : problem.sockets;
    return {problem, {parts.begin(), parts.end()}};
  }

  [[nodiscard]] int count() const { return static_cast<int>(groups_.size()); }
  [[nodiscard]] int own() const { return of(rank_); }
  [[nodiscard]] int of(Rank rank) const { return node_of_.empty() ? 0 : node_of_[index(rank.value())]; }
  [[nodiscard]] const Group& at(int node) const { return groups_[index(node)]; }
  [[nodiscard]] const Group& mine() const { return at(own()); }
  /// The place of a rank in its node.
  [[nodiscard]] int place(Rank rank) const {
    const std::vector<Rank>& ranks = at(of(rank)).ranks;
    return static_cast<int>(std::ranges::lower_bound(ranks, rank) - ranks.begin());
  }

  [[nodiscard]] int lanes() const { return lanes_; }
  /// The place in a node of the rank that serves a lane.
  [[nodiscard]] int server(int lane, int node) const {
    return ((node == of(root_) ? place(root_) : 0) + lane) % at(node).size();
  }
  [[nodiscard]] bool serves(int lane) const { return mine().me == server(lane, own()); }
  /// The ranks that serve a lane, in the order of nodes.
  [[nodiscard]] Group lane(int lane) const {
    Group group{{}, serves(lane) ? own() : -1};
    for (int node = 0; node < count(); ++node)
      group.ranks.push_back(at(node).at(server(lane, node)));
    return group;
  }
  [[nodiscard]] Rank leader(int node) const { return at(node).at(server(0, node)); }
  [[nodiscard]] Group leaders() const { return lane(0); }
  [[nodiscard]] bool leads() const { return serves(0); }

 private:
  Nodes(const Problem& problem, std::vector<int> node_of)
      : rank_(problem.rank),
        root_(has_root(problem.collective) ? problem.root : Rank{0}),
        node_of_(std::move(node_of)) {
    std::vector<std::size_t> sizes(node_of_.empty() ? 1 : index(std::ranges::max(node_of_)) + 1);
    for (int rank = 0; rank < problem.size; ++rank)
      ++sizes[index(of(Rank{rank}))];
    groups_.resize(sizes.size());
    for (std::size_t node = 0; node < sizes.size(); ++node)
      groups_[node].ranks.reserve(sizes[node]);
    for (int rank = 0; rank < problem.size; ++rank)
      groups_[index(of(Rank{rank}))].ranks.emplace_back(rank);
    groups_[index(own())].me = place(rank_);
    lanes_ = static_cast<int>(std::ranges::max(sizes));
  }
  static std::size_t index(int place) { return static_cast<std::size_t>(place); }
  Rank rank_, root_;
  std::vector<int> node_of_;
  std::vector<Group> groups_;
  int lanes_ = 1;
};

}  // namespace tutti
