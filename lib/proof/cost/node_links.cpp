#include "node_links.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tutti {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

NodeLinks::NodeLinks(std::span<const int> nodes, int links)
    : nodes_(nodes.begin(), nodes.end()), links_(links), messages_(nodes.size()) {
  if (links < 1) throw std::logic_error("simulation: a node without links");
  const std::size_t count = nodes.empty() ? 1 : index(*std::ranges::max_element(nodes)) + 1;
  leaving_.resize(count), entering_.resize(count);
}

int NodeLinks::node(int rank) const { return nodes_.empty() ? 0 : nodes_[index(rank)]; }

bool NodeLinks::join(int sender, int receiver) const { return node(sender) != node(receiver); }

void NodeLinks::change(Side& side) {
  if (!side.has_changed) changed_.push_back(&side);
  side.has_changed = true;
}

void NodeLinks::enter(int sender, int receiver, Time alone) {
  Message& message = messages_[index(sender)];
  message = {.from = node(sender), .to = node(receiver), .left = static_cast<double>(alone)};
  Side &leaving = leaving_[index(message.from)], &entering = entering_[index(message.to)];
  message.place_of_leaving = leaving.senders.size(), message.place_of_entering = entering.senders.size();
  leaving.senders.push_back(sender), entering.senders.push_back(sender);
  change(leaving), change(entering);
}

void NodeLinks::remove(Side& side, std::size_t Message::*place, int sender) {
  const std::size_t at = messages_[index(sender)].*place;
  side.senders[at] = side.senders.back();
  messages_[index(side.senders[at])].*place = at;
  side.senders.pop_back();
  change(side);
}

bool NodeLinks::has_left(int sender, Time now) {
  Message& message = messages_[index(sender)];
  if (message.arrival != now) return false;
  message.arrival = unknown;
  remove(leaving_[index(message.from)], &Message::place_of_leaving, sender);
  remove(entering_[index(message.to)], &Message::place_of_entering, sender);
  return true;
}

void NodeLinks::share(int sender, Time now, std::vector<Arrival>& arrivals) {
  Message& message = messages_[index(sender)];
  const auto leaving = static_cast<double>(leaving_[index(message.from)].senders.size());
  const auto entering = static_cast<double>(entering_[index(message.to)].senders.size());
  const double slowdown = std::max({1.0, leaving / links_, entering / links_});
  if (message.arrival != unknown) {
    if (slowdown == message.slowdown) return;
    message.left = std::max(0.0, message.left - static_cast<double>(now - message.since) / message.slowdown);
  }
  message.since = now, message.slowdown = slowdown;
  message.arrival = now + static_cast<Time>(std::llround(message.left * slowdown));
  arrivals.push_back({sender, message.arrival});
}

std::vector<NodeLinks::Arrival> NodeLinks::shared_anew(Time now) {
  std::vector<Arrival> arrivals;
  for (Side* side : changed_) {
    side->has_changed = false;
    for (const int sender : side->senders)
      share(sender, now, arrivals);
  }
  changed_.clear();
  return arrivals;
}

}  // namespace tutti
