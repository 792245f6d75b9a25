// The blocks that two nodes have for each other, in one message each way.
#include "phases_node_pairs.hpp"

namespace tutti {
void append_crossing(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Regions& given,
                     const Regions& parcels, const Region& arrived) {
  const Group& mine = nodes.mine();
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

void append_delivery(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Regions& wanted,
                     const PairSizes& sizes, const Region& arrived) {
  const Group &mine = nodes.mine(), &theirs = nodes.at(pair.node);
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
