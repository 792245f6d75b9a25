#include "apps/tutti/rank_events.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <variant>

namespace tutti::tool {
namespace {

constexpr int nobody = RankEvent::nobody;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// A topological order of the graph in which the two ends of a message are one node.
std::vector<int> joined_order(const std::vector<RankEvent>& events) {
  const auto node_of = [&](int event) { return std::max(event, events[at(event)].partner); };
  std::vector<int> waits(events.size(), 0);
  std::vector<std::vector<int>> followers(events.size());
  for (int event = 0; event < std::ssize(events); ++event)
    for (const int before : events[at(event)].after) {
      followers[at(node_of(before))].push_back(node_of(event));
      ++waits[at(node_of(event))];
    }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int event = 0; event < std::ssize(events); ++event)
    if (node_of(event) == event && waits[at(event)] == 0) ready.push(event);
  std::vector<int> order;
  while (!ready.empty()) {
    const int node = ready.top();
    ready.pop();
    if (const int partner = events[at(node)].partner; partner != nobody) order.push_back(partner);
    order.push_back(node);
    for (const int next : followers[at(node)])
      if (--waits[at(next)] == 0) ready.push(next);
  }
  if (order.size() == events.size()) return order;
  order.resize(events.size());
  for (int event = 0; event < std::ssize(events); ++event)
    order[at(event)] = event;
  return order;
}

}  // namespace

void append_in_order(std::vector<RankEvent> events, std::vector<Schedule>& schedules) {
  std::map<std::pair<int, int>, int> messages;  // of each sender and receiver
  std::vector<int> number(events.size(), nobody);
  std::vector<int> place(events.size());  // among the steps of the rank
  for (const int each : joined_order(events)) {
    RankEvent& event = events[at(each)];
    if (event.partner != nobody && number[at(each)] == nobody) {
      const int other = events[at(event.partner)].rank;
      const bool is_send = std::holds_alternative<Send>(event.action);
      const std::pair pair = is_send ? std::pair{event.rank, other} : std::pair{other, event.rank};
      number[at(each)] = number[at(event.partner)] = messages[pair]++;
    }
    if (auto* const send = std::get_if<Send>(&event.action)) send->message = number[at(each)];
    if (auto* const recv = std::get_if<Recv>(&event.action)) recv->message = number[at(each)];
    std::vector<Step>& steps = schedules[at(event.rank)].steps;
    place[at(each)] = static_cast<int>(steps.size());
    for (int& before : event.after)
      before = place[at(before)];
    std::ranges::sort(event.after);
    steps.push_back({std::move(event.action), std::move(event.after)});
  }
}

}  // namespace tutti::tool
