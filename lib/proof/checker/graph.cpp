#include "graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tutti::checker {
namespace {

constexpr auto pair_and_number = [](const auto& message) {
  return std::tuple{message.from, message.to, message.number};
};

}  // namespace

std::string_view to_string(Flow flow) {
  switch (flow) {
    case Flow::eager:
      return "eager";
    case Flow::rendezvous:
      return "rendezvous";
    case Flow::one_credit:
      return "one-credit";
  }
  return "?";
}

Graph::Graph(const RankSchedules& schedules) {
  Messages messages = number_steps(schedules);
  for (auto* side : {&messages.sent, &messages.received}) {
    const auto of_pair = [](const Message& message) { return std::pair{message.from, message.to}; };
    std::ranges::stable_sort(*side, {}, of_pair);
    require_counting_up(*side);
  }
  match(messages);
}

Graph::Messages Graph::number_steps(const RankSchedules& schedules) {
  Messages messages;
  for (int rank = 0; const RankSchedule& own : schedules) {
    const int first = steps();
    for (const Step& step : own.schedule.steps) {
      const auto* recv = std::get_if<Recv>(&step.action);
      if (const auto* send = std::get_if<Send>(&step.action))
        messages.sent.push_back({rank, send->to.value(), send->message, steps(), total(send->from)});
      if (recv != nullptr)
        messages.received.push_back({recv->from.value(), rank, recv->message, steps(), total(recv->into)});
      nodes_.push_back({.step = &step, .rank = rank, .first = first, .receives = recv != nullptr});
    }
    ++rank;
  }
  return messages;
}

void Graph::require_counting_up(const std::vector<Message>& messages) const {
  const Message* last = nullptr;
  for (const Message& message : messages) {
    const bool same_pair = last != nullptr && last->from == message.from && last->to == message.to;
    const int number = same_pair ? last->number + 1 : 0;
    if (message.number != number)
      refute(message.step,
             fmt::format("is message {} on its pair of ranks, but {} comes next", message.number, number));
    last = &message;
  }
}

void Graph::match(const Messages& messages) {
  const auto& [sent, received] = messages;
  auto send = sent.begin();
  auto recv = received.begin();
  for (; send != sent.end() && recv != received.end(); ++send, ++recv) {
    if (pair_and_number(*send) < pair_and_number(*recv)) break;
    if (pair_and_number(*recv) < pair_and_number(*send)) refute(recv->step, "is never sent");
    if (send->count != recv->count)
      throw Fault{fmt::format("{}: receives {} elements, but {} sends {}", describe(recv->step), recv->count.value(),
                              describe(send->step), send->count.value()),
                  {position(recv->step), position(send->step)}};
    Node& sender = nodes_[static_cast<std::size_t>(send->step)];
    Node& receiver = nodes_[static_cast<std::size_t>(recv->step)];
    sender.partner = recv->step;
    receiver.partner = send->step;
    if (recv->number > 0) sender.before = receiver.before = std::prev(recv)->step;
  }
  if (send != sent.end()) refute(send->step, "is never received");
  if (recv != received.end()) refute(recv->step, "is never sent");
}

std::string Graph::describe(int step) const { return where(rank(step), local(step), this->step(step).action); }

void Graph::refute(int step, std::string_view why) const {
  checker::refute(rank(step), local(step), this->step(step).action, why);
}

int Graph::predecessor(int event, std::size_t k, Flow flow) const {
  const Node& node = at(step_of(event));
  if (is_start(event)) {
    const std::vector<int>& after = node.step->after;
    if (k < after.size()) return completion(node.first + after[k]);
    const bool waits_for_credit = k == after.size() && flow == Flow::one_credit && node.before != nobody;
    return waits_for_credit ? completion(node.before) : nobody;
  }
  if (k == 0) return start(step_of(event));
  if (k > 1 || node.partner == nobody) return nobody;
  if (node.receives) return start(node.partner);
  return flow == Flow::eager ? nobody : completion(node.partner);
}

/// Depth-first against the edges: an event is listed after all that it waits for.
Ordering Graph::order(Flow flow) const {
  enum class State : std::uint8_t { unseen, waiting, listed };
  struct Frame {
    int event;
    std::size_t next;
  };
  std::vector<State> states(2 * nodes_.size(), State::unseen);
  const auto state = [&](int event) -> State& { return states[static_cast<std::size_t>(event)]; };
  std::vector<Frame> path;
  const auto enter = [&](int event) {
    state(event) = State::waiting;
    path.push_back({event, 0});
  };
  Ordering ordering;
  ordering.events.reserve(states.size());
  for (int root = 0; root < 2 * steps(); ++root) {
    if (state(root) == State::unseen) enter(root);
    while (!path.empty()) {
      const int event = path.back().event;
      const int before = predecessor(event, path.back().next++, flow);
      if (before == nobody) {
        state(event) = State::listed;
        ordering.events.push_back(event);
        path.pop_back();
      } else if (state(before) == State::unseen) {
        enter(before);
      } else if (state(before) == State::waiting) {
        const auto first = std::ranges::find(path, before, &Frame::event);
        std::ranges::transform(first, path.end(), std::back_inserter(ordering.cycle), &Frame::event);
        return ordering;
      }
    }
  }
  return ordering;
}

}  // namespace tutti::checker
