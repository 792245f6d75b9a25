// Traffic between nodes of algorithms of several levels: as little as there can be. Their proofs are those of all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "lib/proof/checker/problems.hpp"
#include "lib/proof/checker/prove.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::checker {
namespace {

using enum Collective;
using Nodes = std::vector<int>;

/// The data that a node, or a socket, exchanges with all others, and the ranks that send them.
struct Crossing {
  Count sent, received;
  int messages = 0;  ///< Sent.
  std::set<int> senders;
};

std::vector<Crossing> crossings(const Algorithm& algorithm, const Case& what, const std::vector<int>& groups) {
  std::vector<Crossing> all(static_cast<std::size_t>(*std::ranges::max_element(groups)) + 1);
  const auto node_of = [&](int rank) { return static_cast<std::size_t>(groups[static_cast<std::size_t>(rank)]); };
  for (int rank = 0; const RankSchedule& own : schedules_of(algorithm, what)) {
    for (const Step& step : own.schedule.steps) {
      const auto* send = std::get_if<Send>(&step.action);
      if (send == nullptr || node_of(rank) == node_of(send->to.value())) continue;
      all[node_of(rank)].sent += total(send->from);
      all[node_of(send->to.value())].received += total(send->from);
      ++all[node_of(rank)].messages;
      all[node_of(rank)].senders.insert(rank);
    }
    ++rank;
  }
  return all;
}

std::vector<Crossing> crossings(const Algorithm& algorithm, const Case& what) {
  return crossings(algorithm, what, what.nodes);
}

/// The least data that a node can send and receive, in the terms of Problem::count.
struct Least {
  Count sent, received;
};
Least least_of(Collective collective, const Case& what, int node) {
  const Count n = what.count;
  const std::int64_t p = what.size, h = *std::ranges::max_element(what.nodes) + 1;
  const std::int64_t m = std::ranges::count(what.nodes, node), others = p - m;
  const bool has_root = what.nodes[static_cast<std::size_t>(what.root.value())] == node;
  const Count none{0};
  switch (collective) {
    case allreduce:
      return {2 * (h - 1) * n / h, 2 * (h - 1) * n / h};
    case broadcast:
      return {none, has_root ? none : n};  // any node may send
    case reduce:
      return {has_root ? none : n, none};
    case reduce_scatter:
      return {others * n, none};
    case allgather:
      return {none, others * n};
    case gather:
      return {has_root ? none : m * n, none};
    case scatter:
      return {none, has_root ? none : m * n};
    case alltoall:
      return {m * others * n, m * others * n};
    case scan:
    case exscan:
      return {node + 1 < h ? n : none, node > 0 ? n : none};
    case barrier:
      break;
  }
  return {none, none};
}

struct Claim {
  Collective collective;
  std::string_view name;
};
/// Algorithms that send the least possible; allreduce's two_level does on two nodes, where it is for small counts.
constexpr Claim claims[] = {
    {broadcast, "two_level"},  {broadcast, "lanes"}, {reduce, "two_level"},         {reduce, "lanes"},
    {allreduce, "lane_rings"}, {allreduce, "lanes"}, {reduce_scatter, "two_level"}, {reduce_scatter, "lanes"},
    {allgather, "two_level"},  {allgather, "lanes"}, {gather, "two_level"},         {scatter, "two_level"},
    {alltoall, "two_level"},   {scan, "two_level"},  {exscan, "two_level"},         {broadcast, "three_level"},
    {reduce, "three_level"},
};

Case case_of(const Nodes& nodes, Collective collective) {
  const auto size = static_cast<int>(nodes.size());
  constexpr int parts = 2 * 2 * 2 * 2 * 3 * 3 * 5;  // all that slices and blocks are cut into divide it
  Case what{.size = size, .count = Count{parts}};
  what.nodes = nodes;
  if (has_root(collective)) what.root = Rank{size / 2};
  return what;
}

const std::map<std::string, Nodes> spreads{{"4 nodes of 2", {0, 0, 1, 1, 2, 2, 3, 3}},
                                           {"2 nodes of 4", {0, 0, 0, 0, 1, 1, 1, 1}},
                                           {"round robin", {0, 1, 2, 0, 1, 2}},
                                           {"1 + 2 + 3", {0, 1, 1, 2, 2, 2}},
                                           {"shuffled 3 + 4 + 2", {0, 1, 0, 1, 2, 1, 2, 0, 1}},
                                           {"6 nodes", {0, 0, 1, 2, 2, 2, 3, 4, 4, 5, 5, 5}}};

TEST(BetweenNodes, OnlyWhatHasTo) {
  for (const auto& [spread, nodes] : spreads) {
    for (const auto& [collective, name] : claims) {
      if ((collective == scan || collective == exscan) && !follow_each_other(nodes)) continue;
      const Algorithm* algorithm = find_algorithm(collective, name);
      ASSERT_NE(algorithm, nullptr) << to_string(collective) << " " << name;
      const Case what = case_of(nodes, collective);
      ASSERT_EQ(prove(*algorithm, what).fault, "") << to_text(what);
      const std::vector<Crossing> all = crossings(*algorithm, what);
      for (int node = 0; const Crossing& crossing : all) {
        const Least least = least_of(collective, what, node);
        const std::string where = fmt::format("{} {}, {}, node {}", to_string(collective), name, spread, node);
        if (least.sent > Count{0} || collective == reduce || collective == gather) {
          EXPECT_EQ(crossing.sent.value(), least.sent.value()) << where;
        }
        if (least.received > Count{0} || collective == broadcast || collective == scatter) {
          EXPECT_EQ(crossing.received.value(), least.received.value()) << where;
        }
        ++node;
      }
    }
  }
}

TEST(BetweenSockets, EverythingEntersAndLeavesOnce) {
  const Nodes nodes{0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
  for (const Nodes& sockets : {Nodes{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}, Nodes{0, 1, 0, 1, 2, 3, 2, 3, 2, 2}})
    for (const Collective collective : {broadcast, reduce, allreduce}) {
      const Algorithm& algorithm = *find_algorithm(collective, "three_level");
      Case what = case_of(nodes, collective);
      what.sockets = sockets;
      ASSERT_EQ(prove(algorithm, what).fault, "") << to_text(what);
      const auto root = static_cast<std::size_t>(what.root.value());
      for (int socket = 0; const Crossing& crossing : crossings(algorithm, what, sockets)) {
        const bool has_root = sockets[root] == socket;
        const bool leads_node = socket == 0 || socket == 2;  // of allreduce: exchanges with the other node, too
        const std::string where = fmt::format("{}, socket {}", to_text(what), socket);
        if (collective == broadcast) {
          EXPECT_EQ(crossing.received, has_root ? Count{0} : what.count) << where;
        } else if (collective == reduce || !leads_node) {
          EXPECT_EQ(crossing.sent, has_root && collective == reduce ? Count{0} : what.count) << where;
        }
        if (collective == allreduce && !leads_node) {
          EXPECT_EQ(crossing.received, what.count) << where;
        }
        ++socket;
      }
    }
}

TEST(BetweenNodes, EveryRankOfANodeLeadsALane) {
  for (const Collective collective : {broadcast, reduce, allreduce, reduce_scatter, allgather})
    for (const auto& [spread, nodes] : spreads) {
      const std::vector<Crossing> all = crossings(*find_algorithm(collective, "lanes"), case_of(nodes, collective));
      std::size_t senders = 0;
      for (const Crossing& crossing : all)
        senders += crossing.senders.size();
      // Leaves of trees send nothing on, nor does a rank that alone of its lane is given a block.
      const bool all_send = collective == allreduce || collective == allgather || spread == "4 nodes of 2";
      if (all_send && collective != broadcast && collective != reduce) {
        EXPECT_EQ(senders, nodes.size()) << to_string(collective) << ", " << spread;
      }
      EXPECT_GT(senders, 1U) << to_string(collective) << ", " << spread;
    }
}

TEST(BetweenNodes, OneMessageOfAnAlltoallGoesFromNodeToNode) {
  for (const auto& [spread, nodes] : spreads)
    for (const Crossing& crossing : crossings(*find_algorithm(alltoall, "two_level"), case_of(nodes, alltoall)))
      EXPECT_EQ(crossing.messages, *std::ranges::max_element(nodes)) << spread;
}

/// Blocks of 1 to p elements, but, from two senders in three, of 15 for one receiver in four, and of 16 for another.
std::vector<Count> some_large_blocks(Collective collective, int size) {
  std::vector<Count> counts;
  for (int sender = 0; sender < (collective == alltoall ? size : 1); ++sender)
    for (int receiver = 0; receiver < size; ++receiver)
      counts.emplace_back(receiver % 4 < 2 && sender % 3 < 2 ? 16 - receiver % 4 : 1 + (sender + receiver) % size);
  return counts;
}

TEST(BetweenNodes, OnlyLargeBlocksOfDifferingSizesGoStraight) {
  constexpr int largest = 15;
  for (const auto& [spread, nodes] : spreads)
    for (const Collective collective : {gather, scatter, alltoall}) {
      const Algorithm& algorithm = *find_algorithm(collective, "two_level");
      Case what = case_of(nodes, collective);
      what.counts = some_large_blocks(collective, what.size);
      what.parameter = largest;
      ASSERT_EQ(prove(algorithm, what).fault, "") << to_text(what);
      const int root_node = nodes[static_cast<std::size_t>(what.root.value())];
      std::set<std::pair<int, int>> carried;  // between which nodes
      int straight = 0;
      for (std::size_t i = 0; i < what.counts.size(); ++i) {
        const int here = nodes[i % nodes.size()];
        const int there = collective == alltoall ? nodes[i / nodes.size()] : root_node;
        if (here == there) continue;
        if (what.counts[i] > Count{largest})
          ++straight;
        else
          carried.emplace(here, there);
      }
      int messages = 0;
      for (const Crossing& crossing : crossings(algorithm, what))
        messages += crossing.messages;
      EXPECT_GT(straight, 0);
      EXPECT_EQ(messages, straight + static_cast<int>(carried.size())) << to_string(collective) << ", " << spread;
    }
}

TEST(BetweenNodes, SizesDoNotCross) {
  for (const auto& [spread, nodes] : spreads)
    for (const Collective collective : {gather, scatter, alltoall}) {
      const Algorithm& algorithm = *find_algorithm(collective, "two_level");
      Case what = case_of(nodes, collective);
      what.counts = some_large_blocks(collective, what.size);
      const Problems problems{algorithm, what};
      int told = 0;
      for (Rank rank; rank.value() < what.size; rank = Rank{rank.value() + 1})
        for (const Step& step : algorithm.exchange(problems.of(rank)).schedule.steps)
          if (const auto* send = std::get_if<Send>(&step.action)) {
            const auto node_of = [&](Rank of) { return nodes[static_cast<std::size_t>(of.value())]; };
            EXPECT_EQ(node_of(rank), node_of(send->to)) << to_string(collective) << ", " << spread;
            ++told;
          }
      EXPECT_GT(told, 0) << to_string(collective) << ", " << spread;
    }
}

std::string table_row(const Algorithm& algorithm, const Case& what) {
  Crossing all, busiest;
  Least least;
  for (int node = 0; const Crossing& crossing : crossings(algorithm, what)) {
    const auto [sent, received] = least_of(algorithm.collective, what, node++);
    least.sent += sent, least.received += received;
    all.sent += crossing.sent, all.messages += crossing.messages;
    busiest.sent = std::max({busiest.sent, crossing.sent, crossing.received});
  }
  const auto in_n = [&](Count count) {
    return fmt::format("{:.4g} n", static_cast<double>(count.value()) / static_cast<double>(what.count.value()));
  };
  return fmt::format("| {} | `{}` | {} | {} | {} | {} |\n", to_string(algorithm.collective), algorithm.name,
                     in_n(all.sent), in_n(std::max(least.sent, least.received)), in_n(busiest.sent), all.messages);
}

/// The table of docs/hierarchy.md.
TEST(BetweenNodes, Table) {
  const std::set<std::string_view> compared{"knomial", "recursive_doubling", "rabenseifner",
                                            "ring",    "circulant",          "linear"};
  fmt::print(
      "| collective | algorithm | crosses in all | least | busiest node | messages |\n|---|---|---|---|---|---|\n");
  for (int collective = 0; collective < collective_count; ++collective)
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->collective != static_cast<Collective>(collective) || algorithm->collective == barrier) continue;
      if (algorithm->levels == Levels::ranks && !compared.contains(algorithm->name)) continue;
      fmt::print("{}", table_row(*algorithm, case_of(spreads.at("4 nodes of 2"), algorithm->collective)));
    }
}

TEST(Order, FollowsFromTheNodes) {
  const Algorithm& algorithm = *find_algorithm(allreduce, "two_level");
  EXPECT_EQ(order_on(Nodes{}, algorithm), tutti::Order::of_ranks);
  EXPECT_EQ(order_on(Nodes{0, 0, 1, 2, 2}, algorithm), tutti::Order::of_ranks);
  EXPECT_EQ(order_on(Nodes{0, 1, 0}, algorithm), tutti::Order::any);
  EXPECT_EQ(order_on(Nodes{0, 1, 0}, *find_algorithm(allreduce, "ring")), tutti::Order::any);
}

/// Were it declared to keep the order of ranks everywhere, the proof would fail.
TEST(Order, IsProvedWhereItIsClaimed) {
  for (const auto& [collective, name] : {Claim{allreduce, "two_level"}, {reduce, "two_level"}, {reduce, "lanes"}}) {
    Algorithm bold = *find_algorithm(collective, name);
    bold.order = tutti::Order::of_ranks;
    EXPECT_EQ(prove(bold, case_of({0, 0, 1, 1, 1}, collective)).fault, "");
    EXPECT_NE(prove(bold, case_of({0, 1, 0, 1, 1}, collective)).fault, "");
  }
}

}  // namespace
}  // namespace tutti::checker
