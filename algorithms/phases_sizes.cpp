#include "phases_sizes.hpp"

#include "node_pairs_pattern.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

Exchange leaders_learn_sizes(const Problem& problem) {
  const Nodes nodes{problem};
  const Group& node = nodes.mine();
  const bool asks = nodes.own() != nodes.of(problem.root), learns = asks && nodes.leads();
  const Count own{1}, all{learns ? node.size() : 0};
  ScheduleBuilder plan{{problem.rank, problem.size}, own, all};
  if (asks && !learns) plan.send(plan.input(), nodes.leader(nodes.own()));
  const Blocks sizes{plan.output(), node.size()};
  for (int place = 0; learns && place < node.size(); ++place) {
    if (place == node.me)
      plan.copy(plan.input(), sizes[place]);
    else
      plan.recv(sizes[place], node.at(place));
  }
  return {plan.build(), own, all};
}

Exchange carriers_learn_sizes(const Problem& problem) {
  const Nodes nodes{problem};
  const Group& mine = nodes.mine();
  const std::vector<NodePair> pairs = node_pairs(nodes);
  const auto entries_of = [&](const NodePair& pair) { return PairSizes::entries(nodes.at(pair.node).size()); };
  Count learned;
  for (const NodePair& pair : pairs)
    if (pair.here == problem.rank) learned += Count{mine.size() * entries_of(pair)};
  const Count told{2 * problem.size};
  ScheduleBuilder plan{{problem.rank, problem.size}, told, learned};
  const Blocks sizes{plan.input(), 2 * problem.size};
  Region next{Buffer::output, Count{0}, Count{0}};
  for (const NodePair& pair : pairs) {
    Regions own;
    for (const int direction : {0, problem.size})
      for (const Rank other : nodes.at(pair.node).ranks)
        Blocks::append(own, sizes[direction + other.value()]);
    if (pair.here != problem.rank) plan.send(own, pair.here);
    for (int member = 0; pair.here == problem.rank && member < mine.size(); ++member) {
      next = {Buffer::output, next.offset + next.count, Count{entries_of(pair)}};
      if (member == mine.me)
        plan.copy(own, Regions{next});
      else
        plan.recv(next, mine.at(member));
    }
  }
  return {plan.build(), told, learned};
}

}  // namespace tutti
