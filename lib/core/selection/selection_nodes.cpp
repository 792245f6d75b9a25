#include "lib/core/selection/rules.hpp"

namespace tutti {
namespace {

/// Up to here few messages count more than little volume. Measured: allreduce on 4 nodes of 2 ranks over TCP.
bool is_medium(const Question& q) { return q.bytes <= 64 * kibibyte; }
/// Medium, or longer on few nodes: four or fewer send hardly more if all of it goes between their leaders.
bool is_medium_for_leaders(const Question& q) { return is_medium(q) || (q.nodes <= 4 && q.bytes <= 256 * kibibyte); }
/// Four segments of 48 KiB a node: the first has reached the last node when a fourth of the data has left the first.
bool is_long_for_a_chain(const Question& q) { return q.bytes >= q.nodes * (192 * kibibyte); }
/// Rounds follow each other for as long as it takes that all links are busy: of a ring, twice as many as there are
/// nodes. Blocks, one of each rank, are then long as well.
bool is_long_for_rings(const Question& q) {
  return q.bytes > q.nodes * (512 * kibibyte) && q.bytes >= q.ranks * (32 * kibibyte);
}
/// Segments, of which each is a few steps of a plan in memory, are then large.
bool is_huge(const Question& q) { return q.bytes > 256 * (1024 * kibibyte); }
/// Blocks between two ranks, or of one, that are worth two stops on their way, as fewer messages cross.
bool has_small_even_blocks(const Question& q) { return !q.is_uneven && q.bytes <= 4 * (q.ranks * kibibyte); }
/// Only listed blocks of up to the parameter go over other ranks.
bool has_listed_blocks(const Question& q) { return q.is_uneven; }
/// With fewer ranks a node, waiting for the leader costs as much as its message saves.
bool has_listed_blocks_of_many(const Question& q) { return q.is_uneven && q.ranks >= 4 * q.nodes; }
/// Consecutive ranks on each node: only then can a node take part in a scan as one.
bool has_rows_of_ranks(const Question& q) { return follow_each_other(q.spread); }

// Where every rank has a node of its own. Measured: 4 and 8 nodes over TCP, as fast as these are and at 1 and 2 Gbit/s.
bool is_long_between_nodes(const Question& q) { return q.bytes > 32 * kibibyte; }
bool has_long_blocks_between_nodes(const Question& q) {
  return q.bytes >= 64 * (q.ranks * kibibyte) && q.bytes >= 256 * kibibyte;
}
bool has_very_long_blocks_between_nodes(const Question& q) { return q.bytes >= 256 * (q.ranks * kibibyte); }
bool has_huge_blocks_between_nodes(const Question& q) { return is_huge(q) && has_very_long_blocks_between_nodes(q); }
bool is_huge_for_rings(const Question& q) { return is_huge(q) && is_long_for_rings(q); }

/// For each collective the first rule that fits counts; if none does, ranks are taken as alike. In trees of radix 4 a
/// message waits half as often for a process to be woken as in those of 2 (1.3 to 2.2 times as fast); exchanges in
/// groups of 4 do not gain. Segments of 48 and 60 KiB are shorter than the messages that MPIs over TCP send without
/// asking (up to 64 KiB): a larger one waits for an answer first.
constexpr Rule rules[] = {
    {Collective::barrier, "two_level", always, "as only one rank of each node signals to others"},
    {Collective::broadcast, "two_level:1/1M", is_huge,
     "as the data then enter and leave each node once, and leaders pass segments on while others arrive"},
    {Collective::broadcast, "two_level:1/48K", is_long_for_a_chain,
     "as the data then enter and leave each node once, and leaders pass segments on while others arrive"},
    {Collective::broadcast, "two_level:4/48K", always, "as the data then enter each node once, in few rounds"},
    {Collective::reduce, "two_level:4/48K", is_medium, "as one sum leaves each node, in few rounds"},
    {Collective::reduce, "lanes/1M", is_huge, "as one sum leaves each node, over all of its ranks, in segments"},
    {Collective::reduce, "lanes/48K", always, "as one sum leaves each node, over all of its ranks, in segments"},
    {Collective::allreduce, "two_level/48K", is_medium_for_leaders,
     "as only one rank of each node sends to others, in few rounds"},
    {Collective::allreduce, "lane_rings/1M", is_huge_for_rings,
     "as the least then leaves each node, over all of its ranks, and rings keep all links busy"},
    {Collective::allreduce, "lanes/1M", is_huge, "as the least then leaves each node, over all of its ranks"},
    {Collective::allreduce, "lane_rings/60K", is_long_for_rings,
     "as the least then leaves each node, over all of its ranks, and rings keep all links busy"},
    {Collective::allreduce, "lanes/48K", always, "as the least then leaves each node, over all of its ranks"},
    {Collective::allreduce, "two_level/48K", always, "as it keeps the order of ranks, and little leaves each node"},
    {Collective::reduce_scatter, "two_level/48K", is_medium, "as only one rank of each node sends to others"},
    {Collective::reduce_scatter, "lanes/1M", is_huge, "as the least then leaves each node, over all of its ranks"},
    {Collective::reduce_scatter, "lanes/48K", always, "as the least then leaves each node, over all of its ranks"},
    {Collective::allgather, "two_level/48K", is_medium, "as only one rank of each node sends to others"},
    {Collective::allgather, "lanes/1M", is_huge, "as every block then enters each node once, over all of its ranks"},
    {Collective::allgather, "lanes/48K", always, "as every block then enters each node once, over all of its ranks"},
    {Collective::gather, "two_level", has_small_even_blocks, "as the root then gets one message from each node"},
    {Collective::scatter, "two_level", has_small_even_blocks, "as the root then sends one message to each node"},
    {Collective::alltoall, "two_level", has_small_even_blocks, "as one message then goes from node to node"},
    {Collective::gather, "two_level:8K", has_listed_blocks_of_many,
     "as the root then gets one message from each node, but for blocks of more than 8 KiB"},
    {Collective::scatter, "two_level:8K", has_listed_blocks,
     "as the root then sends one message to each node, but for blocks of more than 8 KiB"},
    {Collective::alltoall, "two_level:8K", has_listed_blocks,
     "as one message then goes from node to node, but for blocks of more than 8 KiB"},
    {Collective::scan, "two_level", has_rows_of_ranks, "as one sum then goes from node to node"},
    {Collective::exscan, "two_level", has_rows_of_ranks, "as one sum then goes from node to node"},
};

constexpr Rule rules_of_lone_ranks[] = {
    {Collective::broadcast, "two_tree/1M", is_huge, "as each node then sends about as much as it gets, in segments"},
    {Collective::broadcast, "two_tree/60K", is_long_between_nodes,
     "as each node then sends about as much as it gets, in segments"},
    {Collective::reduce, "two_tree/1M", is_huge,
     "as each node then sends and reduces everything about once, in segments"},
    {Collective::reduce, "two_tree/60K", is_long_between_nodes,
     "as each node then sends and reduces everything about once, in segments"},
    {Collective::allreduce, "ring/1M", has_huge_blocks_between_nodes, "as a ring keeps all links busy, in segments"},
    {Collective::allreduce, "ring/48K", has_long_blocks_between_nodes, "as a ring keeps all links busy, in segments"},
    {Collective::reduce_scatter, "ring/1M", has_huge_blocks_between_nodes,
     "as a ring keeps all links busy, in segments"},
    {Collective::reduce_scatter, "ring/60K", has_very_long_blocks_between_nodes,
     "as a ring keeps all links busy, in segments"},
    {Collective::allgather, "ring/1M", has_huge_blocks_between_nodes, "as a ring keeps all links busy, in segments"},
    {Collective::allgather, "ring/60K", has_very_long_blocks_between_nodes,
     "as a ring keeps all links busy, in segments"},
};

}  // namespace

std::optional<Selection> select_on_nodes(const Question& question) {
  if (question.nodes == 1) return std::nullopt;
  static const RuleTable &table = *new RuleTable{rules}, &table_of_lone_ranks = *new RuleTable{rules_of_lone_ranks};
  return (question.nodes == question.ranks ? table_of_lone_ranks : table).first_for(question);
}

}  // namespace tutti
