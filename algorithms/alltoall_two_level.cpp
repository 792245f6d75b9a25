/// Node-aware alltoall: for each other node one rank collects its node's blocks, exchanges them with a rank over there
/// in one message, and hands out those that arrived. The rank differs from node to node, so that all take part.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; scratch 2 m^2 n for each node carried for
/// Cost     h nodes of m ranks: 3 rounds; a node exchanges one message with each other node, each block crosses once
/// Needs    any p >= 1, any n >= 0, any spread over nodes; sizes that are not equal go to the ranks that carry
///          first, and blocks of more than `largest` straight where they belong
/// Source   Bienz, Gropp & Olson, IJHPCA 34(5), 2020 (node-aware communication)
#include <algorithm>
#include <functional>
#include <utility>

#include "phases_alltoall.hpp"
#include "phases_costs.hpp"
#include "phases_node_pairs.hpp"
#include "phases_sizes.hpp"

namespace tutti {
namespace {

/// The sizes of a pair's carried blocks, taken from the front of `left`, the learned sizes that are not used yet.
PairSizes sizes_of(const Problem& problem, const Nodes& nodes, const NodePair& pair, std::span<const Count>& left) {
  const int members = nodes.mine().size(), others = nodes.at(pair.node).size();
  const int listed = members * PairSizes::entries(others);
  const auto entries = static_cast<std::size_t>(listed);
  if (pair.here != problem.rank) return {members, others, {}};
  if (!problem.uneven()) return {members, others, std::vector<Count>(entries, problem.count)};
  std::vector<Count> sizes{left.begin(), left.begin() + listed};
  left = left.subspan(entries);
  std::ranges::replace_if(sizes, std::not_fn(Carried{problem}), Count{0});
  return {members, others, std::move(sizes)};
}

/// Exchanges the blocks that go straight with other ranks.
void append_straight(ScheduleBuilder& plan, const Problem& all, const Nodes& nodes, const Ways& in, const Ways& out) {
  constexpr int window = 16;  // as that of linear, or all ranks of this node
  Problem problem = all;
  problem.in = in.straight(), problem.out = out.straight();
  std::vector<BlockExchange> exchanges = exchanges_by_distance(problem);
  std::erase_if(exchanges, [&](const BlockExchange& exchange) {
    return in.is_carried(exchange.to) && out.is_carried(exchange.from);
  });
  append_exchanges(plan, problem, exchanges, std::max(window, nodes.mine().size() - 1));
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Carried is_carried{problem};
  const Ways in{nodes, is_carried, input_blocks(problem)}, out{nodes, is_carried, output_blocks(problem)};
  const std::vector<NodePair> pairs = node_pairs(nodes);
  std::vector<PairSizes> sizes;
  Regions arrived;
  std::span<const Count> left = problem.learned;
  for (const NodePair& pair : pairs) {
    const PairSizes& of_pair = sizes.emplace_back(sizes_of(problem, nodes, pair, left));
    Regions parcels;
    for (int member = 0; pair.here == problem.rank && member < nodes.mine().size(); ++member)
      parcels.push_back(plan.scratch(of_pair.leaving(member)));
    arrived.push_back(plan.scratch(pair.here == problem.rank ? of_pair.arriving() : Count{0}));
    append_crossing(plan, nodes, pair, in.carried(nodes.at(pair.node)), parcels, arrived.back());
  }
  append_straight(plan, problem, nodes, in, out);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    append_delivery(plan, nodes, pairs[i], out.carried(nodes.at(pairs[i].node)), sizes[i], arrived[i]);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const NodeFigures nodes{Nodes{problem}};
  const Count n = problem.count;
  const int others = nodes.nodes - 1, m = nodes.lanes, peers = m - 1, given = others - nodes.carried;
  const std::int64_t parcel = std::int64_t{m} * m;
  return {.messages = given + nodes.carried * m + peers,
          .rounds = std::min({peers, others, 1}) * 2 + std::min(std::max(peers, others), 1),
          .sent = (std::int64_t{given} * m + nodes.carried * (parcel + std::int64_t{peers} * m) + peers) * n,
          .copied = (2 * nodes.carried * m + 1) * n,
          .scratch = 2 * (nodes.carried * parcel) * n};
}

}  // namespace

extern const Algorithm alltoall_two_level;
constinit const Algorithm alltoall_two_level{
    .collective = Collective::alltoall,
    .name = "two_level",
    .order = Order::of_ranks,
    .levels = Levels::nodes,
    .parameter = Carried::parameter,
    .build = build,
    .cost = cost,
    .exchange = carriers_learn_sizes,
    .summary = "one message from node to node, by ranks that take turns: each block crosses once",
    .source = "Bienz, Gropp & Olson, IJHPCA 34(5), 2020",
};

}  // namespace tutti
