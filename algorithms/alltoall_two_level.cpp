/// Node-aware alltoall: for each other node one rank collects what its node has for it, exchanges that with a rank over
/// there in one message, and hands out what came. Which rank it is differs from node to node, so that all take part.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; scratch 2 m^2 n for each node carried for
/// Cost     h nodes of m ranks: 3 rounds; a node exchanges one message with each other node, each block crosses once
/// Needs    any p >= 1, any n >= 0, any spread over nodes; sizes that are not equal go the same way first
/// Source   Bienz, Gropp & Olson, IJHPCA 34(5), 2020 (node-aware communication)
#include <utility>

#include "phases_alltoall.hpp"
#include "phases_node_pairs.hpp"

namespace tutti {
namespace {

/// The sizes of the blocks of a pair, of those learned the first that are left.
PairSizes sizes_of(const Problem& problem, const Nodes& nodes, const NodePair& pair, std::span<const Count>& left) {
  const int members = nodes.mine().size(), others = nodes.at(pair.node).size();
  const auto entries = static_cast<std::size_t>(PairSizes::entries(members, others));
  if (pair.here != problem.rank) return {members, others, {}};
  if (!problem.uneven()) return {members, others, std::vector<Count>(entries, problem.count)};
  const auto mine = std::exchange(left, left.subspan(entries)).first(entries);
  return {members, others, {mine.begin(), mine.end()}};
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Blocks in = input_blocks(problem), out = output_blocks(problem);
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
    append_crossing(plan, nodes, pair, in, parcels, arrived.back());
  }
  append_exchanges(plan, problem, exchanges_within(nodes.mine()), std::max(1, nodes.mine().size() - 1));
  for (std::size_t i = 0; i < pairs.size(); ++i)
    append_delivery(plan, nodes, pairs[i], out, sizes[i], arrived[i]);
  return plan.build();
}

/// The crossing with sizes for blocks: those who carry learn all sizes of a pair.
Exchange exchange(const Problem& problem) {
  const Nodes nodes{problem};
  const int members = nodes.mine().size();
  const std::vector<NodePair> pairs = node_pairs(nodes);
  Count learned;
  for (const NodePair& pair : pairs)
    if (pair.here == problem.rank) learned += Count{PairSizes::entries(members, nodes.at(pair.node).size())};
  ScheduleBuilder plan{{problem.rank, problem.size}, Count{problem.size}, learned};
  Region next{Buffer::output, Count{0}, Count{0}};
  const auto take = [&](int entries) { return next = {Buffer::output, next.offset + next.count, Count{entries}}; };
  for (const NodePair& pair : pairs) {
    const int others = nodes.at(pair.node).size();
    Regions parcels;
    for (int member = 0; pair.here == problem.rank && member < members; ++member)
      parcels.push_back(take(others));
    const Region arrived = pair.here == problem.rank ? take(members * others) : Region{};
    append_crossing(plan, nodes, pair, {plan.input(), problem.size}, parcels, arrived);
  }
  return {plan.build(), Count{problem.size}, learned};
}

Cost cost(const Problem& problem) {
  const NodeFigures nodes{Nodes{problem}};
  const Count n = problem.count;
  const int others = nodes.nodes - 1, m = nodes.lanes, peers = m - 1;
  const std::int64_t parcel = std::int64_t{m} * m;
  return {.messages = others + nodes.carried * (1 + peers) + peers,
          .rounds = others == 0 ? (peers > 0 ? 1 : 0)
                    : peers > 0 ? 3
                                : 1,
          .sent = (problem.size + nodes.carried * (parcel + std::int64_t{peers} * m) + peers) * n,
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
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "one message from node to node, by ranks that take turns: each block crosses once",
    .source = "Bienz, Gropp & Olson, IJHPCA 34(5), 2020",
};

}  // namespace tutti
