#include "lib/collectives/selection_nodes.hpp"

#include "lib/collectives/selection_rules.hpp"

namespace tutti {
namespace {

/// Up to here few messages count more than little volume. Measured: allreduce on 4 nodes of 2 ranks over TCP.
bool is_medium(const Question& q) { return q.bytes <= 64 * kibibyte; }
bool is_large(const Question& q) { return q.bytes > 1024 * kibibyte; }
/// Blocks between two ranks, or of one, that are worth two stops on their way, as fewer messages cross.
bool has_small_even_blocks(const Question& q) { return !q.is_uneven && q.bytes <= 4 * (q.ranks * kibibyte); }
/// Only then can a node take part in a scan as one.
bool has_rows_of_ranks(const Question& q) { return follow_each_other(q.spread); }

/// For each collective the first rule that fits counts; if none does, ranks are taken as alike.
constexpr Rule rules[] = {
    {Collective::barrier, "two_level", always, "as only one rank of each node signals to others"},
    {Collective::broadcast, "two_level", is_medium, "as the data then enter each node once, in few rounds"},
    {Collective::broadcast, "two_level/128K", always,
     "as the data then enter each node once, and leaders pass segments on while others arrive"},
    {Collective::reduce, "two_level", is_medium, "as one sum leaves each node, in few rounds"},
    {Collective::reduce, "lanes/128K", is_large, "as one sum leaves each node, over all of its ranks, in segments"},
    {Collective::reduce, "lanes", always, "as one sum leaves each node, over all of its ranks"},
    {Collective::allreduce, "two_level", is_medium, "as only one rank of each node sends to others, in few rounds"},
    {Collective::allreduce, "lanes", always, "as the least then leaves each node, over all of its ranks"},
    {Collective::allreduce, "two_level", always, "as it keeps the order of ranks, and little leaves each node"},
    {Collective::reduce_scatter, "two_level", is_medium, "as only one rank of each node sends to others"},
    {Collective::reduce_scatter, "lanes", always, "as the least then leaves each node, over all of its ranks"},
    {Collective::allgather, "two_level", is_medium, "as only one rank of each node sends to others"},
    {Collective::allgather, "lanes", always, "as every block then enters each node once, over all of its ranks"},
    {Collective::gather, "two_level", has_small_even_blocks, "as the root then gets one message from each node"},
    {Collective::scatter, "two_level", has_small_even_blocks, "as the root then sends one message to each node"},
    {Collective::alltoall, "two_level", has_small_even_blocks, "as one message then goes from node to node"},
    {Collective::scan, "two_level", has_rows_of_ranks, "as one sum then goes from node to node"},
    {Collective::exscan, "two_level", has_rows_of_ranks, "as one sum then goes from node to node"},
};

}  // namespace

std::optional<Selection> select_on_nodes(const Question& question) {
  if (question.nodes == 1 || question.nodes == question.ranks) return std::nullopt;
  static const RuleTable table{rules};
  return table.first_for(question);
}

}  // namespace tutti
