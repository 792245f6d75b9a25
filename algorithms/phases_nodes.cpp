#include "phases_nodes.hpp"

#include "circulant_pattern.hpp"
#include "phases.hpp"
#include "phases_trees.hpp"

namespace tutti {
namespace {

TreePlace place_in(const GroupTree& tree) {
  const Rank me{tree.group.me}, root{tree.root};
  const int size = tree.group.size();
  return tree.radix == 1 ? chain_place(me, size, root) : knomial_place({me, size, root, tree.radix}, me);
}

/// The parcels of the members first..last-1 ahead.
Regions ahead(const Circulant& circle, const Parcels& parcels, int first, int last) {
  Regions all;
  for (int distance = first; distance < last; ++distance)
    for (const Region& region : parcels[static_cast<std::size_t>(circle.ahead(distance).value())])
      Blocks::append(all, region);
  return all;
}

template <class Tell>
void with_others(const GroupTree& group, const Tell& tell) {
  for (int place = 0; place < group.group.size(); ++place)
    if (place != group.root) tell(group.group.at(place));
}

}  // namespace

void append_group_broadcast(ScheduleBuilder& plan, const GroupTree& tree, const Region& from, const Region& into) {
  plan.within(tree.group, [&](Rank, int) { append_tree_broadcast(plan, place_in(tree), from, into); });
}

Region append_group_reduce(ScheduleBuilder& plan, const GroupTree& tree, const Region& mine, const Region& sum,
                           const Region& theirs) {
  Region done = mine;
  plan.within(tree.group, [&](Rank, int) { done = append_tree_reduce(plan, place_in(tree), mine, sum, theirs); });
  return done;
}

bool combines(const GroupTree& tree) { return !place_in(tree).children.empty(); }

bool append_group_gathering(ScheduleBuilder& plan, const GroupTree& group) {
  const bool is_root = group.group.me == group.root;
  if (is_root)
    with_others(group, [&](Rank other) { plan.await(other); });
  else
    plan.signal(group.group.at(group.root));
  return is_root;
}

void append_group_release(ScheduleBuilder& plan, const GroupTree& group) {
  if (group.group.me == group.root)
    with_others(group, [&](Rank other) { plan.signal(other); });
  else
    plan.await(group.group.at(group.root));
}

void append_group_dissemination(ScheduleBuilder& plan, const Group& group, int radix) {
  plan.within(group, [&](Rank me, int size) { append_dissemination(plan, me, size, radix); });
}

Count total(const Regions& regions) {
  Count sum;
  for (const Region& region : regions)
    sum += region.count;
  return sum;
}

Regions share(const Regions& regions, int part, int parts) {
  const Region whole{Buffer::input, Count{0}, total(regions)}, wanted = Blocks{whole, parts}[part];
  Regions found;
  Count at;
  for (const Region& region : regions) {
    const Count begin = std::max(wanted.offset, at) - at;
    const Count end = std::min(wanted.offset + wanted.count, at + region.count) - at;
    if (begin < end) found.push_back({region.buffer, region.offset + begin, end - begin});
    at += region.count;
  }
  return found;
}

void append_parcel_allgather(ScheduleBuilder& plan, const Group& group, const Parcels& parcels) {
  plan.within(group, [&](Rank me, int size) {
    const Circulant circle = Circulant::halving(me, size);
    for (auto round = circle.rounds().rbegin(); round != circle.rounds().rend(); ++round) {
      const auto [skip, held] = *round;
      plan.send(ahead(circle, parcels, 0, held - skip), circle.behind(skip));
      plan.recv(ahead(circle, parcels, skip, held), circle.ahead(skip));
    }
  });
}

void append_parcel_reduce_scatter(ScheduleBuilder& plan, const Group& group, const Parcels& parcels) {
  plan.within(group, [&](Rank me, int size) {
    const Circulant circle = Circulant::halving(me, size);
    const Region room = plan.scratch(total(ahead(circle, parcels, 0, circle.partials())));
    for (const auto& [skip, held] : circle.rounds()) {
      const Regions mine = ahead(circle, parcels, 0, held - skip);
      const Region theirs = room.first(total(mine));
      plan.send(ahead(circle, parcels, skip, held), circle.ahead(skip));
      plan.recv(theirs, circle.behind(skip));
      plan.reduce(Regions{theirs}, mine, mine);
    }
  });
}

}  // namespace tutti
