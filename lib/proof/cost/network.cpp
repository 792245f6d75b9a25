#include "network.hpp"

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

void Network::join(int from, int to, int message, Count count) {
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

void Network::add(const Action& action, int rank) {
  Node node{.rank = rank};
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

void Network::add(const Schedule& schedule) {
  const int first = steps();
  if (schedule.steps.size() > static_cast<std::size_t>(std::numeric_limits<int>::max() - first))
    throw std::logic_error("simulation: too many steps");
  firsts.push_back(first);
  for (const auto& [action, after] : schedule.steps) {
    add(action, ranks);
    for (const int before : after)
      edges.push_back(first + before);
    edges_end.push_back(edges.size());
  }
  ++ranks;
}

}  // namespace tutti
