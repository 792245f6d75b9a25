// What two nodes have for each other, in one message each way.
#include "phases_node_pairs.hpp"

namespace tutti {
namespace {

Regions blocks_of(const Blocks& blocks, const Group& node) {
  Regions regions;
  for (const Rank member : node.ranks)
    Blocks::append(regions, blocks[member.value()]);
  return regions;
}

}  // namespace

void append_crossing(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Blocks& from,
                     const Regions& parcels, const Region& arrived) {
  const Group& mine = nodes.mine();
  const Regions given = blocks_of(from, nodes.at(pair.node));
  if (pair.here != mine.at(mine.me)) return plan.send(given, pair.here);
  for (int member = 0; member < mine.size(); ++member) {
    const Region& parcel = parcels[static_cast<std::size_t>(member)];
    if (member != mine.me) plan.recv(parcel, mine.at(member));
    if (member == mine.me) plan.copy(given, Regions{parcel});
  }
  Regions all;
  for (const Region& parcel : parcels)
    Blocks::append(all, parcel);
  plan.send(all, pair.there);
  plan.recv(arrived, pair.there);
}

void append_delivery(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Blocks& out,
                     const PairSizes& sizes, const Region& arrived) {
  const Group &mine = nodes.mine(), &theirs = nodes.at(pair.node);
  const Regions wanted = blocks_of(out, theirs);
  if (pair.here != mine.at(mine.me)) return plan.recv(wanted, pair.here);
  std::vector<Regions> parcels(static_cast<std::size_t>(mine.size()));
  Region block = arrived;
  for (int other = 0; other < theirs.size(); ++other)
    for (int member = 0; member < mine.size(); ++member) {
      block.count = sizes.arriving(other, member);
      Blocks::append(parcels[static_cast<std::size_t>(member)], block);
      block.offset += block.count;
    }
  for (int member = 0; member < mine.size(); ++member) {
    const Regions& parcel = parcels[static_cast<std::size_t>(member)];
    if (member != mine.me) plan.send(parcel, mine.at(member));
    if (member == mine.me) plan.copy(parcel, wanted);
  }
}

}  // namespace tutti
