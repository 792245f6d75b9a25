#include "joined_schedules.hpp"

#include <limits>
#include <stdexcept>

namespace tutti {
namespace {

Count total(const Regions& regions) {
  Count sum;
  for (const Region& region : regions)
    sum += region.count;
  return sum;
}

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

void JoinedSchedules::join(int from, int to, int message, Count count) {
  constexpr int rank_bits = 20, message_bits = 24;
  if (from >> rank_bits != 0 || to >> rank_bits != 0 || message >> message_bits != 0)
    throw std::logic_error("simulation: too many ranks, or messages of a pair");
  const int step = steps() - 1;
  const auto key = (static_cast<std::uint64_t>(from) << (rank_bits + message_bits)) |
                   (static_cast<std::uint64_t>(to) << message_bits) | static_cast<std::uint64_t>(message);
  const auto [place, is_new] = open.try_emplace(key, End{step, count});
  if (is_new) return;
  const End& other = place->second;
  if (other.count != count || nodes[index(other.step)].kind == nodes.back().kind)
    throw std::logic_error("simulation: the two ends of a message do not match");
  nodes[index(other.step)].partner = step;
  nodes.back().partner = other.step;
  open.erase(place);
}

void JoinedSchedules::add(const Action& action, int rank) {
  Node node;
  node.rank = rank;
  if (const auto* send = std::get_if<Send>(&action)) {
    node.elements = total(send->from).value();
    nodes.push_back(node);
    join(rank, send->to.value(), send->message, total(send->from));
  } else if (const auto* recv = std::get_if<Recv>(&action)) {
    node.kind = Kind::recv;
    node.elements = recv->then ? recv->then->into.count.value() : 0;
    nodes.push_back(node);
    join(recv->from.value(), rank, recv->message, total(recv->into));
  } else {
    const auto* reduce = std::get_if<Reduce>(&action);
    node.kind = reduce != nullptr ? Kind::reduce : Kind::copy;
    node.elements = (reduce != nullptr ? reduce->into : std::get<Copy>(action).into).count.value();
    nodes.push_back(node);
  }
}

std::span<const int> JoinedSchedules::followers_of(int step) const {
  const std::size_t begin = step == 0 ? 0 : followers_end[index(step - 1)];
  return std::span{followers}.subspan(begin, followers_end[index(step)] - begin);
}

int JoinedSchedules::end_of(int rank) const { return rank + 1 == ranks ? steps() : firsts[index(rank + 1)]; }

/// Turns the lists of what each step waits for into lists of what waits for each step.
void JoinedSchedules::add_followers(const Schedule& schedule, int first) {
  const std::size_t steps = schedule.steps.size(), before = followers.size();
  std::vector<std::size_t> place(steps + 1, before);
  for (const Step& step : schedule.steps) {
    waits.push_back(static_cast<int>(step.after.size()));
    for (const int earlier : step.after)
      ++place[index(earlier) + 1];
  }
  for (std::size_t step = 0; step < steps; ++step) {
    place[step + 1] += place[step] - before;
    followers_end.push_back(static_cast<std::uint32_t>(place[step + 1]));
  }
  if (place[steps] > std::numeric_limits<std::uint32_t>::max())
    throw std::logic_error("simulation: too many dependencies");
  followers.resize(place[steps]);
  for (std::size_t step = 0; step < steps; ++step)
    for (const int earlier : schedule.steps[step].after)
      followers[place[index(earlier)]++] = first + static_cast<int>(step);
}

void JoinedSchedules::add(const Schedule& schedule) {
  const int first = steps();
  if (schedule.steps.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() - first))
    throw std::logic_error("simulation: too many steps");
  firsts.push_back(first);
  for (const auto& [action, after] : schedule.steps)
    add(action, ranks);
  add_followers(schedule, first);
  ++ranks;
}

void JoinedSchedules::require_complete() const {
  if (!open.empty()) throw std::logic_error("simulation: a message has only one end");
}

}  // namespace tutti
