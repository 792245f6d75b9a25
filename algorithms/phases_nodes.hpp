#pragma once
// Phases of groups: nodes, their leaders, lanes. Each appends its steps to a plan; this rank is one of the group.

#include <vector>

#include "nodes_pattern.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// A k-nomial tree over a group, from the member at place `root`; with radix 1 a chain, round the group.
struct GroupTree {
  const Group& group;
  int root = 0;
  int radix = node_radix;
};
/// Hands `from` of the root down to `into` of all others.
void append_group_broadcast(ScheduleBuilder& plan, const GroupTree& tree, const Region& from, const Region& into);
/// Combines `mine` of all, in the order of the group. Returns the place of this rank's part, which on the root is all
/// of it: `mine` in a group of one rank and on leaves, else `sum`. `theirs` is room for arriving operands.
Region append_group_reduce(ScheduleBuilder& plan, const GroupTree& tree, const Region& mine, const Region& sum,
                           const Region& theirs);
/// Whether this rank has children in that tree, so that its `sum` and `theirs` are used.
[[nodiscard]] bool combines(const GroupTree& tree);

/// All others of a group signal to its root, with any radix. Returns whether this rank is that root.
bool append_group_gathering(ScheduleBuilder& plan, const GroupTree& group);
/// The root signals to all others.
void append_group_release(ScheduleBuilder& plan, const GroupTree& group);
/// Signals after which every rank of the group has heard of every other, in ceil(log_radix size) rounds.
void append_group_dissemination(ScheduleBuilder& plan, const Group& group, int radix);

/// The blocks that a member of a group has for all, or gets from all, wherever they lie; by place in the group.
using Parcels = std::vector<Regions>;
[[nodiscard]] Count total(const Regions& regions);
/// The part-th of `parts` near-equal parts of the elements in the regions.
[[nodiscard]] Regions share(const Regions& regions, int part, int parts);

/// Every member starts with its own parcel and gets those of all others: ceil(log2 size) messages, each parcel received
/// once.
void append_parcel_allgather(ScheduleBuilder& plan, const Group& group, const Parcels& parcels);
/// Every member starts with a summand of each parcel, in memory that is written, and ends with the sum of its own:
/// ceil(log2 size) messages, a summand of each parcel of another member sent once. The operation must be commutative.
void append_parcel_reduce_scatter(ScheduleBuilder& plan, const Group& group, const Parcels& parcels);

}  // namespace tutti
